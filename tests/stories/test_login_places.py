"""What the list of connections holds: capabilities, and packages, of whoever asks."""

from __future__ import annotations

from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest

from tests.stories.test_mcp_upstream import agent_of
from tests.support.crib import Person, problem_of
from tests.support.logging_in import CONNECTIONS, OAUTH, World, open_world


@pytest.fixture
async def world(data_dir: Path) -> AsyncIterator[World]:
    async with open_world(data_dir) as made:
        yield made


async def install(world: World, slug: str, *, kind: str = "mcp_streamable_http", **auth: Any):
    """A package whose server wants a login."""
    root = await world.crib.somebody(1)
    remote: dict[str, Any] = {
        "endpoint": world.server.url,
        "tool_name": "echo",
        "input_schema": {"type": "object", "properties": {}},
    }
    plain: dict[str, Any] = {"url": f"http://{world.server.place}/mail"}
    package = {
        "slug": slug,
        "name": slug.title(),
        "description": "x",
        "type": kind,
        "config": {**(plain if kind == "http" else remote), "auth": {**OAUTH, **auth}},
    }
    answer = await root.api.post("/admin/tools/install", json=package)
    assert answer.status_code == 201, answer.text


async def refs(world: World, person: Person) -> list[str]:
    return [one["ref"] for one in await world.shown(person)]


async def test_packages_are_listed(world: World) -> None:
    """To admins all of them, to others those of agents in reach; behind the capabilities."""
    tenants = world.tenants
    row = await world.row()
    await install(world, "remote")
    await install(world, "mail", kind="http", issuer=world.login.url)
    everything = [f"mcp:{row}", "package:mail", "package:remote"]
    assert await refs(world, tenants.user_a) == everything[:1]
    agent = await agent_of(tenants, tenants.admin_a, "installed__remote")
    assert await refs(world, tenants.user_a) == [f"mcp:{row}", "package:remote"]
    assert await refs(world, tenants.user_b) == everything[:1]
    assert await refs(world, await world.crib.somebody(1)) == everything
    bound = await world.crib.somebody(tenants.user_a.id, agent_id=agent)
    assert await refs(world, bound) == []

    assert (await world.connect(tenants.user_a, "package:remote")).status_code == 200
    [_, shown] = await world.shown(tenants.user_a)
    assert (shown["status"], shown["label"], shown["user_id"]) == (
        "connected",
        "Remote",
        tenants.user_a.id,
    )
    root = await world.crib.somebody(1)
    await root.api.post("/admin/tools/remote/disable")
    assert await refs(world, tenants.user_a) == everything[:1]


async def test_a_package_that_a_capability_brings(world: World) -> None:
    """Whoever may use the row may log in, as they see the server."""
    user = world.tenants.user_a
    await install(world, "remote")
    root = await world.crib.somebody(1)
    row = {"name": "r", "code": "installed__remote", "type": "internal", "access_type": "system"}
    made = await root.api.post("/api/super-admin/capabilities", json=row)
    assert made.status_code == 201, made.text
    assert await refs(world, user) == ["package:remote"]
    assert (await world.connect(user, "package:remote")).status_code == 200


async def test_logins_of_groups_and_of_nobody(world: World) -> None:
    """One line for each group; the installation's has no owner. Pages hold a server whole."""
    tenants = world.tenants
    await world.crib.desk.users.update(
        world.crib.operator, tenants.admin_a.id, group_ids=[tenants.a, tenants.b]
    )
    admin = await world.crib.somebody(tenants.admin_a.id)
    row = await world.row(per="group")
    await install(world, "grouped", per="group")
    secret = {"value": "secret-of-the-vault"}
    await (await world.crib.somebody(1)).api.put("/admin/secrets/MACHINE", json=secret)
    await install(
        world,
        "machine",
        grant="client_credentials",
        client_id="machine",
        client_secret="{{MACHINE}}",
        issuer=world.login.url,
    )
    found = [(one["ref"], one["group_id"], one["user_id"]) for one in await world.shown(admin)]
    both = (tenants.a, tenants.b)
    expected = [
        *((f"mcp:{row}", group, None) for group in both),
        *(("package:grouped", group, None) for group in both),
        ("package:machine", None, None),
    ]
    assert found == expected
    seen: list[Any] = []
    cursor: str | None = None
    while True:
        query = {"limit": 1, **({"cursor": cursor} if cursor else {})}
        page = (await admin.api.get(CONNECTIONS, params=query)).json()
        seen += [(one["ref"], one["group_id"], one["user_id"]) for one in page["items"]]
        cursor = page["next_cursor"]
        if cursor is None:
            break
    assert seen == expected
    bad = await admin.api.get(CONNECTIONS, params={"cursor": "NQ=="})
    assert problem_of(bad)[:2] == (422, "invalid_request")
