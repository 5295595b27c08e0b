"""A server may want more for one call than a login allows: it is said which, the person logs in
again, and what was allowed before is asked for with it."""

from __future__ import annotations

from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any
from urllib.parse import parse_qs, urlsplit

import pytest

from tests.stories.test_mcp_logins import install
from tests.stories.test_mcp_upstream import agent_of, call
from tests.support.crib import Person
from tests.support.logging_in import OAUTH, World, age, open_world
from tests.support.mcp_guarded import GuardedMcp
from tests.support.mcp_http import tool_of


@pytest.fixture
async def world(data_dir: Path) -> AsyncIterator[World]:
    async with open_world(data_dir) as made:
        made.server.tools = [tool_of("echo"), tool_of("write"), tool_of("wipe")]
        made.server.more = {"write": "files:write", "wipe": "files:wipe admin"}
        yield made


async def asked_for(world: World, person: Person, ref: str) -> set[str]:
    """The scopes that the next login asks for."""
    begun = await world.begin(person, ref)
    address = await world.going(begun["url"], await world.crib.client())
    return set(parse_qs(urlsplit(address).query)["scope"][0].split())


async def test_a_call_that_needs_more(world: World) -> None:
    """The call says what is lacking and what mends it; the login goes on for everything else; the
    next one asks for all that is allowed, and for what was wanted."""
    user = world.tenants.user_a
    row = await world.row()
    ref, agent = f"mcp:{row}", await agent_of(world.tenants, user, row)
    assert (await world.connect(user, ref)).status_code == 200
    await world.until_listed(user, agent, "echo", "write", "wipe")

    refused = await call(user, agent, "write")
    assert refused["error"]["code"] == "not_granted", refused
    for words in ("files:write", f"toolcrib mcp login {ref}", "/api/v1/mcp/connections"):
        assert words in refused["error"]["message"], words
    [shown] = await world.shown(user)
    assert (shown["status"], shown["scopes"]) == ("connected", ["tools"])
    assert shown["more_scopes"] == ["files:write"]
    assert "files:write" in shown["error"]
    assert (await call(user, agent, "echo"))["success"]

    refused = await call(user, agent, "wipe")
    assert "files:wipe admin" in refused["error"]["message"]
    [shown] = await world.shown(user)
    assert shown["more_scopes"] == ["files:write", "files:wipe", "admin"]
    everything = {"tools", "files:write", "files:wipe", "admin"}
    assert await asked_for(world, user, ref) == everything

    assert (await world.connect(user, ref)).status_code == 200
    [shown] = await world.shown(user)
    assert (set(shown["scopes"]), shown["more_scopes"], shown["error"]) == (everything, [], None)
    await world.until_listed(user, agent, "echo", "write", "wipe")
    for name in ("echo", "write", "wipe"):
        assert (await call(user, agent, name))["success"], name


async def test_a_renewal_does_not_forget_what_was_wanted(world: World) -> None:
    """The wish is the login's until a person logs in again; others have none of it."""
    user, other = world.tenants.user_a, world.tenants.admin_a
    row = await world.row()
    ref, agent = f"mcp:{row}", await agent_of(world.tenants, user, row)
    for person in (user, other):
        assert (await world.connect(person, ref)).status_code == 200
    await world.until_listed(user, agent, "echo", "write", "wipe")
    await call(user, agent, "write")
    await age(world)
    world.login.expire()
    assert (await call(user, agent, "echo"))["success"]
    assert world.login.count("refresh_token") == 1
    assert [one["more_scopes"] for one in await world.shown(user)] == [["files:write"]]
    assert [one["more_scopes"] for one in await world.shown(other)] == [[]]
    assert await asked_for(world, other, ref) == {"tools"}


async def test_a_server_that_is_never_content(world: World) -> None:
    """Who has what is wanted and is refused all the same is sent to no login again."""
    user = world.tenants.user_a
    world.server.more = {"write": "tools"}
    row = await world.row()
    ref, agent = f"mcp:{row}", await agent_of(world.tenants, user, row)
    assert (await world.connect(user, ref)).status_code == 200
    await world.until_listed(user, agent, "echo", "write", "wipe")
    for grant in world.login.grants:
        grant.scope = ""  # it takes back what it gave
    refused = await call(user, agent, "write")
    assert refused["error"]["code"] == "not_granted", refused
    assert "403" in refused["error"]["message"]
    [shown] = await world.shown(user)
    assert (shown["more_scopes"], shown["error"]) == ([], None)


async def test_a_machine_is_told_to_its_author(world: World) -> None:
    """Nobody logs in for it, so the definition has to say more."""
    user = world.tenants.user_a
    world.login.client("machine", secret="s3cret-of-the-machine")
    row = await world.row(
        grant="client_credentials",
        client_id="machine",
        client_secret="${MACHINE_SECRET}",
        issuer=world.login.url,
    )
    setting = {"value": "s3cret-of-the-machine"}
    await user.api.put("/api/v1/settings/MACHINE_SECRET", json=setting)
    agent = await agent_of(world.tenants, user, row)
    await world.until_listed(user, agent, "echo", "write", "wipe")
    refused = await call(user, agent, "write")
    assert "auth.scopes" in refused["error"]["message"], refused
    [shown] = await world.shown(user)
    assert shown["more_scopes"] == []


@pytest.mark.parametrize(
    ("kind", "era"),
    [("mcp_streamable_http", "modern"), ("mcp_sse", "sse"), ("mcp_server", "plain")],
)
async def test_packages_of_every_wire(world: World, kind: str, era: Any) -> None:
    """Each hears of it, whatever carries its calls."""
    user = world.tenants.user_a
    async with GuardedMcp(world.login, era) as server:
        server.more = {"echo": "files:read"}
        await install(world, kind, server, auth=OAUTH)
        agent = await agent_of(world.tenants, world.tenants.admin_a, "installed__guarded_echo")
        assert (await world.connect(user, "package:guarded_echo")).status_code == 200
        refused = await call(user, agent, "guarded_echo")
        assert refused["error"]["code"] == "not_granted", refused
        assert "files:read" in refused["error"]["message"]
        assert await asked_for(world, user, "package:guarded_echo") == {"tools", "files:read"}
        assert (await world.connect(user, "package:guarded_echo")).status_code == 200
        assert (await call(user, agent, "guarded_echo"))["success"]
