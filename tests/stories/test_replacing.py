"""A definition is replaced while its tool is called: each call meets the old one or the new one."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, Awaitable, Callable
from dataclasses import replace
from itertools import count
from typing import Any

import pytest

from tests.support.crib import Crib, Person, open_crib
from toolcrib.settings import Settings
from toolcrib.testing.replies import json_answer
from toolcrib.testing.upstream import RecordingUpstream

Put = Callable[[str], Awaitable[None]]
TURNS = 12
PATHS = ("/one", "/two")


@pytest.fixture
async def upstream() -> AsyncGenerator[RecordingUpstream]:
    async with RecordingUpstream() as server:
        for path in PATHS:
            server.reply(path, json_answer({"path": path}))
        yield server


@pytest.fixture
async def cribs(
    settings: Settings, upstream: RecordingUpstream, storage_url: str
) -> AsyncGenerator[tuple[Crib, Crib]]:
    """Two on one database, as two processes are."""
    here = {"egress_allow": (upstream.place,), "database_url": storage_url}
    allowed = settings.model_copy(update=here)
    async with open_crib(allowed) as one, open_crib(allowed) as other:
        yield one, other


async def a_package(root: Person, upstream: RecordingUpstream) -> tuple[str | int, Put]:
    """The code of an installed package, and what replaces it."""

    def package(path: str) -> dict[str, Any]:
        about = {"slug": "find_it", "name": "Find it", "type": "http"}
        return {**about, "description": path, "config": {"url": upstream.url(path)}}

    made = await root.api.post("/admin/tools/install", json=package(PATHS[0]))
    assert made.status_code == 201, made.text

    async def put(path: str) -> None:
        answer = await root.api.put("/admin/tools/find_it", json=package(path))
        assert answer.status_code == 200, answer.text

    return "installed__find_it", put


async def a_capability(root: Person, upstream: RecordingUpstream) -> tuple[str | int, Put]:
    """A capability of an endpoint, and what changes it."""

    def options(path: str) -> dict[str, Any]:
        return {"name": "find_it", "description": path, "url": upstream.url(path)}

    row = {"name": "Find it", "code": "find", "type": "api", "options": options(PATHS[0])}
    made = await root.api.post("/api/super-admin/capabilities", json=row)
    assert made.status_code == 201, made.text
    place = f"/api/super-admin/capabilities/{made.json()['id']}"

    async def put(path: str) -> None:
        answer = await root.api.patch(place, json={"options": options(path)})
        assert answer.status_code == 200, answer.text

    return made.json()["id"], put


@pytest.mark.parametrize("make", [a_package, a_capability])
async def test_a_replacement_is_seen_whole(
    cribs: tuple[Crib, Crib], upstream: RecordingUpstream, make: Callable[..., Any]
) -> None:
    """Callers who come anew all the while, to this process or another, are never told that the
    definition waits."""
    root = await cribs[0].somebody(1)
    code, put = await make(root, upstream)
    body = {"name": "a", "capabilities": [code]}
    agent = (await root.api.post("/api/v1/agents", json=body)).json()["id"]
    numbers, over = count(1000), asyncio.Event()
    wrong: list[Any] = []
    seen: set[str] = set()

    async def call(crib: Crib) -> None:
        while not over.is_set():
            # Somebody who was never here: what others were shown is not remembered for them.
            caller = replace(root.caller, group_ids=frozenset({next(numbers)}))
            outcome = await crib.desk.tools.call(caller, agent, "find_it", {})
            found: Any = outcome.output.structured
            met = [path for path in PATHS if path in str(found)]
            seen.update(met)
            if outcome.output.error is not None or len(met) != 1:
                wrong.append(outcome.output)

    async def change() -> None:
        try:
            for turn in range(TURNS):
                await put(PATHS[(turn + 1) % 2])
        finally:
            over.set()

    await asyncio.gather(change(), *(call(cribs[n % 2]) for n in range(4)))

    assert wrong == []
    assert seen <= set(PATHS)
    held = (await root.api.get("/api/v1/pins", params={"state": "held"})).json()["items"]
    assert held == []
    last = await cribs[0].desk.tools.call(root.caller, agent, "find_it", {})
    assert PATHS[TURNS % 2] in str(last.output.structured)
