"""Every list, for every kind of caller: a page is full, or it is the last."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import httpx
import pytest

from tests.support.crib import Crib, open_crib
from tests.support.worlds import Tenant, furnish, furniture
from toolcrib.settings import Settings


def lists_of(crib: Crib, tenant: Tenant) -> Iterator[str]:
    """The paths of all routes that take a cursor, from the description that is served."""
    for path, methods in crib.app.openapi()["paths"].items():
        asked = methods.get("get", {}).get("parameters", [])
        if any(one["name"] == "cursor" for one in asked):
            yield path.format(
                chat_id=tenant.chat,
                agent_id=tenant.agent,
                user_id=tenant.user.id,
                ref="native:parrot/repeat",
            )


async def pages(api: httpx.AsyncClient, path: str, limit: int, **more: int) -> list[list[Any]]:
    """Each page's items; none where the caller may not see the list."""
    found: list[list[Any]] = []
    cursor: str | None = ""
    while cursor is not None:
        query = {"limit": limit} | more | ({"cursor": cursor} if cursor else {})
        answer = await api.get(path, params=query)
        if answer.status_code in {403, 404}:
            return []
        assert answer.status_code == 200, (path, answer.text)
        found.append(answer.json()["items"])
        cursor = answer.json()["next_cursor"]
    return found


@pytest.mark.parametrize("who", ["user", "admin", "super-admin"])
@pytest.mark.parametrize("bound", [False, True], ids=["whole", "bound"])
async def test_pages_are_full(settings: Settings, who: str, bound: bool) -> None:
    """Whoever asks, bound to an agent or not: the same items, however they are cut."""
    async with open_crib(settings, registry=furniture()) as crib:
        other, tenant = await furnish(crib, "walrus"), await furnish(crib, "kestrel")
        for number in range(2):
            await crib.person(f"member {number}", "user", other.group, tenant.group)
        user_id = {"user": tenant.user.id, "admin": tenant.admin.id, "super-admin": 1}[who]
        person = await crib.somebody(user_id, agent_id=tenant.agent if bound else None)
        paths = list(lists_of(crib, tenant))
        assert "/api/v1/users" in paths
        for path in paths:
            more = {"group_id": tenant.group} if path.endswith("/registered-tools") else {}
            whole = await pages(person.api, path, 200, **more)
            cut = await pages(person.api, path, 1, **more)
            assert [one for page in cut for one in page] == [one for page in whole for one in page]
            assert all(len(page) == 1 for page in cut[:-1]), path
