"""`Idempotency-Key`: of one request and its repeats one runs, and all get its answer."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from typing import Any

import httpx
import pytest
from sqlalchemy import select, update

from tests.support.crib import Crib, Person, open_crib, problem_of
from toolcrib.plugin.registration import Registry
from toolcrib.settings import Settings
from toolcrib.storage.tables_repeats import repeats


@dataclass(kw_only=True)
class Shop:
    """An agent with a tool that counts its calls, and one that waits to be let go."""

    ran: list[str] = field(default_factory=list[str])
    began: asyncio.Event = field(default_factory=asyncio.Event)
    let_go: asyncio.Event = field(default_factory=asyncio.Event)
    crib: Crib = field(init=False)
    person: Person = field(init=False)
    agent: int = field(init=False)

    def registry(self) -> Registry:
        registry = Registry()

        async def order(item: str) -> str:
            """Order something."""
            self.ran.append(item)
            return f"order {len(self.ran)}: {item}"

        async def fail(item: str) -> str:
            """Never works."""
            self.ran.append(item)
            raise ValueError(f"no {item}")

        async def wait(item: str) -> str:
            """Wait."""
            self.ran.append(item)
            self.began.set()
            await self.let_go.wait()
            return f"waited for {item}"

        registry.register_tools("shop", [order, fail, wait])
        return registry

    async def open(self) -> None:
        """The agent, in the crib that was opened."""
        self.person = await self.crib.somebody(1)
        body: dict[str, Any] = {"name": "Shop", "code": "shop", "access_type": "system"}
        row = await self.person.api.post("/api/super-admin/capabilities", json=body)
        assert row.status_code == 201, row.text
        body = {"name": "clerk", "capabilities": ["shop"]}
        self.agent = (await self.person.api.post("/api/v1/agents", json=body)).json()["id"]

    async def call(
        self, tool: str, key: str | None, person: Person | None = None, **arguments: Any
    ) -> httpx.Response:
        headers = {} if key is None else {"Idempotency-Key": key}
        return await (person or self.person).api.post(
            f"/api/v1/agents/{self.agent}/tools/{tool}/call",
            json={"arguments": arguments},
            headers=headers,
        )


@pytest.fixture
async def shop(settings: Settings) -> AsyncGenerator[Shop]:
    shop = Shop()
    async with open_crib(settings, registry=shop.registry()) as shop.crib:
        await shop.open()
        yield shop


async def test_a_repeat_is_not_run(shop: Shop) -> None:
    """It gets the same answer to the letter, and says that it is one; it is no call."""
    first = await shop.call("order", "k-1", item="tea")
    again = await shop.call("order", "k-1", item="tea")
    plain = await shop.call("order", None, item="tea")

    assert (first.json()["text"], first.content) == ("order 1: tea", again.content)
    assert [one.headers.get("idempotent-replayed") for one in (first, again, plain)] == [
        None,
        "true",
        None,
    ]
    assert again.headers["content-type"] == "application/json"
    assert shop.ran == ["tea", "tea"]
    calls = (await shop.person.api.get("/api/v1/calls")).json()["items"]
    assert len(calls) == 2


async def test_a_failure_is_an_answer_too(shop: Shop) -> None:
    """A tool that failed may have done something: its repeat does nothing."""
    first = await shop.call("fail", "k-1", item="tea")
    again = await shop.call("fail", "k-1", item="tea")

    assert (first.json()["success"], first.content) == (False, again.content)
    assert shop.ran == ["tea"]


async def test_another_request_with_the_key_is_refused(shop: Shop) -> None:
    """The arguments are others; equal JSON is the same request, however it is written."""
    await shop.call("order", "k-1", item="tea")
    other = await shop.call("order", "k-1", item="coffee")
    body = b'{"chat_id": null, "arguments" : {"item": "\\u0074ea"}}'
    same = await shop.person.api.post(
        f"/api/v1/agents/{shop.agent}/tools/order/call",
        content=body,
        headers={"Idempotency-Key": "k-1", "Content-Type": "application/json"},
    )

    assert problem_of(other) == (422, "invalid_request", "Idempotency-Key")
    assert same.json()["text"] == "order 1: tea"
    assert shop.ran == ["tea"]


async def test_a_key_is_of_one_caller_and_one_tool(shop: Shop) -> None:
    """Somebody else's, or another tool's, is another."""
    second = await shop.crib.person("second", "super_admin")
    await shop.call("order", "k-1", item="tea")
    theirs = await shop.call("order", "k-1", second, item="coffee")
    failed = await shop.call("fail", "k-1", item="milk")

    assert theirs.json()["text"] == "order 2: coffee"
    assert failed.json()["success"] is False
    assert shop.ran == ["tea", "coffee", "milk"]


async def test_while_the_first_runs(shop: Shop) -> None:
    """A repeat is told so; afterwards it gets the answer."""
    async with asyncio.TaskGroup() as group:
        first = group.create_task(shop.call("wait", "k-1", item="tea"))
        await shop.began.wait()
        running = await shop.call("wait", "k-1", item="tea")
        other = await shop.call("wait", "k-1", item="milk")
        shop.let_go.set()
    again = await shop.call("wait", "k-1", item="tea")

    assert problem_of(running) == (409, "conflict", "Idempotency-Key")
    assert problem_of(other) == (422, "invalid_request", "Idempotency-Key")
    assert first.result().content == again.content
    assert shop.ran == ["tea"]


async def test_many_at_once(shop: Shop) -> None:
    """One runs, whoever came first."""
    answers = await asyncio.gather(*(shop.call("order", "k-1", item="tea") for _ in range(12)))

    assert shop.ran == ["tea"]
    assert {one.status_code for one in answers} <= {200, 409}
    assert {one.json()["text"] for one in answers if one.status_code == 200} == {"order 1: tea"}


async def test_two_processes(settings: Settings, storage_url: str) -> None:
    """Whichever of them a repeat comes to, one runs it."""
    shop, settings = Shop(), settings.model_copy(update={"database_url": storage_url})
    async with (
        open_crib(settings, registry=shop.registry()) as shop.crib,
        open_crib(settings, registry=shop.registry()) as other,
    ):
        await shop.open()
        there = await other.somebody(1)
        answers = await asyncio.gather(
            *(shop.call("order", "k-1", (None, there)[n % 2], item="tea") for n in range(12))
        )
        late = await shop.call("order", "k-1", there, item="tea")

    assert shop.ran == ["tea"]
    assert {one.status_code for one in answers} <= {200, 409}
    assert {one.text for one in answers if one.status_code == 200} == {late.text}


async def test_what_never_ran_lets_the_key_go(shop: Shop) -> None:
    """A request that cannot be is refused each time, and the key is free for one that can."""
    api, place = shop.person.api, f"/api/v1/agents/{shop.agent}/tools/order/call"
    bad = {"arguments": {"item": "tea"}, "chat_id": 999}
    for _ in range(2):
        refused = await api.post(place, json=bad, headers={"Idempotency-Key": "k-1"})
        assert problem_of(refused)[0] == 404
    assert (await shop.call("nothing", "k-2")).status_code == 404
    assert (await shop.call("order", "k-1", item="tea")).json()["text"] == "order 1: tea"


async def test_a_process_that_died_with_it(shop: Shop) -> None:
    """Once nobody can be at work any more the outcome is unknown, and stays so."""
    await shop.call("order", "k-1", item="tea")
    await written(shop.crib, done=False, leased_until=datetime.now(UTC) - timedelta(seconds=1))

    answer = await shop.call("order", "k-1", item="tea")
    assert problem_of(answer) == (502, "outcome_unknown", "Idempotency-Key")
    assert shop.ran == ["tea"]


async def test_a_day_later_it_runs_again(shop: Shop) -> None:
    await shop.call("order", "k-1", item="tea")
    async with shop.crib.platform.storage.database.read() as connection:
        [kept] = (await connection.execute(select(repeats))).all()
    left = kept.expires_at - datetime.now(UTC)
    assert timedelta(hours=23) < left <= timedelta(hours=24)

    await written(shop.crib, expires_at=datetime.now(UTC) - timedelta(seconds=1))
    assert (await shop.call("order", "k-1", item="tea")).json()["text"] == "order 2: tea"


async def test_nothing_of_it_lies_open(shop: Shop) -> None:
    """Neither what was asked nor the answer can be read in the database."""
    await shop.call("order", "k-1", item="oolong")
    async with shop.crib.platform.storage.database.read() as connection:
        [kept] = (await connection.execute(select(repeats))).all()
    assert [word for word in ("oolong", "k-1", "order") if word in repr(tuple(kept))] == []


async def test_who_lost_the_agent_gets_no_answer(shop: Shop) -> None:
    """What was kept is as far away as the agent."""
    await shop.call("order", "k-1", item="tea")
    gone = await shop.person.api.delete(f"/api/v1/agents/{shop.agent}")
    assert gone.status_code == 204
    assert (await shop.call("order", "k-1", item="tea")).status_code == 404


@pytest.mark.parametrize("key", ["", "x" * 256])
async def test_a_key_has_a_length(shop: Shop, key: str) -> None:
    """1 to 255 characters."""
    answer = await shop.call("order", key, item="tea")
    assert (problem_of(answer)[0], shop.ran) == (422, [])


async def written(crib: Crib, **values: Any) -> None:
    """As if time had passed."""
    async with crib.platform.storage.database.write() as connection:
        await connection.execute(update(repeats).values(**values))


async def test_one_users_keys_have_an_end(shop: Shop, monkeypatch: pytest.MonkeyPatch) -> None:
    """Another key is refused and runs nothing; known ones are answered, and so are others' keys."""
    monkeypatch.setattr("toolcrib.desk.repeats.MOST_OF_ONE", 2)
    for number in (1, 2):
        await shop.call("order", f"k-{number}", item="tea")
    refused = [await shop.call("order", "k-3", item="tea") for _ in range(2)]
    again = await shop.call("order", "k-1", item="tea")
    second = await shop.crib.person("second", "super_admin")
    theirs = await shop.call("order", "k-1", second, item="coffee")

    assert [problem_of(one) for one in refused] == [(409, "conflict", "Idempotency-Key")] * 2
    assert again.json()["text"] == "order 1: tea"
    assert theirs.json()["success"]
    assert shop.ran == ["tea", "tea", "coffee"]
