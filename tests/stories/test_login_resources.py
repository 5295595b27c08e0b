"""A server spells its own address: tokens are asked for by that name, once it surely is its own."""

from __future__ import annotations

from collections.abc import AsyncIterator
from pathlib import Path
from urllib.parse import parse_qs, urlsplit

import pytest

from tests.stories.test_mcp_upstream import agent_of, call
from tests.support.logging_in import CONNECTIONS, World, age, open_world
from toolcrib.net.oauth_documents import covers

URL = "https://tools.example.com/team/mcp?tenant=7"


@pytest.fixture
async def world(data_dir: Path) -> AsyncIterator[World]:
    async with open_world(data_dir) as made:
        yield made


@pytest.mark.parametrize(
    "named",
    [
        URL,
        "https://tools.example.com/team/mcp",
        "https://tools.example.com/team/mcp/",
        "HTTPS://Tools.Example.com:443/team/mcp",
        "https://tools.example.com/team",
        "https://tools.example.com/",
        "https://tools.example.com",
    ],
)
def test_names_of_the_address_or_a_place_above(named: str) -> None:
    """As RFC 9728 wants it, and as servers do that publish one name for all below it."""
    assert covers(named, URL)


@pytest.mark.parametrize(
    "named",
    [
        "",
        "tools.example.com",
        "http://tools.example.com/team/mcp",
        "https://example.com/team/mcp",
        "https://tools.example.com.evil.example/team/mcp",
        "https://tools.example.com:8443/team/mcp",
        "https://tools.example.com@evil.example/team/mcp",
        "https://you@tools.example.com/team/mcp",
        "https://tools.example.com/team/mcp#x",
        "https://tools.example.com/team/mcp#",
        "https://tools.example.com/team/mcp?tenant=8",
        "https://tools.example.com/tea",
        "https://tools.example.com/team/mcp/more",
        "https://tools.example.com/other",
        "https://tools.example.com/team/../other",
        "https://tools.example.com/team/mcp\u200b",
        "https://[::1",
    ],
)
def test_names_of_others(named: str) -> None:
    """A server gets no token that is made out for somebody else."""
    assert not covers(named, URL)


@pytest.mark.parametrize("spelled", ["{place}/mcp/", "{place}/", "{place}", "{loud}/mcp"])
async def test_the_published_name_is_sent(world: World, spelled: str) -> None:
    """To the letter: for the login, for the first tokens, and for each renewal."""
    user, server = world.tenants.user_a, world.server
    place = f"http://{server.place}"
    named = spelled.format(place=place, loud=place.replace("http", "HTTP"))
    server.metadata = {"resource": named}
    row = await world.row()
    agent = await agent_of(world.tenants, user, row)
    begun = await world.begin(user, f"mcp:{row}")
    address = await world.going(begun["url"], await world.crib.client())
    assert parse_qs(urlsplit(address).query)["resource"] == [named]
    assert (await world.connect(user, f"mcp:{row}")).status_code == 200
    await world.until_listed(user, agent, "echo")
    await age(world)
    world.login.expire()
    assert (await call(user, agent, "echo"))["success"]
    forms = [form for _, form in world.login.asked if "grant_type" in form]
    assert [form["grant_type"] for form in forms] == ["authorization_code", "refresh_token"]
    assert {form["resource"] for form in forms} == {named}


async def test_a_name_that_is_anothers(world: World) -> None:
    """Nobody is sent to log in for it."""
    row = await world.row()
    for named in (f"{world.server.url}#x", f"http://you@{world.server.place}/mcp"):
        world.server.metadata = {"resource": named}
        answer = await world.tenants.user_a.api.post(CONNECTIONS, json={"ref": f"mcp:{row}"})
        assert answer.status_code == 502, answer.text
        assert "another resource" in answer.json()["detail"]
