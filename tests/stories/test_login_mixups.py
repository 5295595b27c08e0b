"""A hostile authorization server that sends people to an honest one, to be sent the honest one's
codes (RFC 9700, 4.4). The honest one names itself in no answer, as the older ones do."""

from __future__ import annotations

from collections.abc import AsyncIterator
from pathlib import Path
from urllib.parse import urlsplit

import httpx
import pytest

from tests.support.authorizing import Authorizing
from tests.support.crib import problem_of
from tests.support.logging_in import CONNECTIONS, World, open_world

SHARED = "http://127.0.0.1:8420/oauth/callback"


@pytest.fixture
async def world(data_dir: Path) -> AsyncIterator[World]:
    async with open_world(data_dir) as made:
        yield made


@pytest.fixture
async def honest() -> AsyncIterator[Authorizing]:
    async with Authorizing() as server:
        server.issuer_in_answer = None
        yield server


def mix(world: World, honest: Authorizing) -> None:
    """The world's own server is the hostile one from now on."""
    world.login.metadata = {
        "authorization_endpoint": f"{honest.url}/authorize",
        "authorization_response_iss_parameter_supported": None,
    }


async def test_an_answer_of_another_server_is_refused_where_it_comes_to(
    world: World, honest: Authorizing
) -> None:
    """Whatever address the honest server sends people back to but the hostile one's own."""
    mix(world, honest)
    row = await world.row()
    browser = await world.crib.client()
    begun = await world.begin(world.tenants.user_a, f"mcp:{row}")
    address = await world.going(begun["url"], browser)
    query = dict(httpx.URL(address).params)
    for redirect in (SHARED, f"{SHARED}/{'0' * 32}"):
        honest.client(query["client_id"], redirect=redirect)
        sent = {**query, "redirect_uri": redirect}
        async with httpx.AsyncClient(trust_env=False) as outside:
            back = await outside.get(f"{honest.url}/authorize", params=sent)
        page = await browser.get(back.headers["location"])
        assert page.status_code == 422
        assert "another authorization server" in page.text
        assert world.login.count("authorization_code") == 0
        begun = await world.begin(world.tenants.user_a, f"mcp:{row}")
        query = dict(httpx.URL(await world.going(begun["url"], browser)).params)


async def test_each_server_has_an_address_of_its_own(world: World, honest: Authorizing) -> None:
    """So an honest server knows no client with the address of another one."""
    row, other = await world.row(), await world.row("other", issuer=honest.url)
    browser = await world.crib.client()
    found: list[str] = []
    for number in (row, other):
        begun = await world.begin(world.tenants.user_a, f"mcp:{number}")
        going = httpx.URL(await world.going(begun["url"], browser))
        found.append(urlsplit(going.params["redirect_uri"]).path)
    assert len({*found, "/oauth/callback"}) == 3


async def test_a_client_by_hand_wants_answers_that_can_be_told_apart(
    world: World, honest: Authorizing
) -> None:
    """Its redirect address is everybody's. So the server names itself, or is in one place."""
    mix(world, honest)
    user = world.tenants.user_a
    row = await world.row(client_id="by-hand", issuer=world.login.url)
    refused = await user.api.post(CONNECTIONS, json={"ref": f"mcp:{row}"})
    assert problem_of(refused)[:2] == (422, "invalid_request")
    assert "could be another server's" in refused.json()["detail"]

    world.login.metadata["authorization_response_iss_parameter_supported"] = True
    honest.client("by-hand", redirect=SHARED)
    page = await world.connect(user, f"mcp:{row}")
    assert page.status_code == 422
    assert world.login.count("authorization_code") == 0

    world.login.client("by-hand", redirect=SHARED)
    world.login.metadata = {"authorization_response_iss_parameter_supported": None}
    world.login.issuer_in_answer = None
    assert (await world.connect(user, f"mcp:{row}")).status_code == 200
