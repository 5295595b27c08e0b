"""This module logs people in at an upstream as they do: with a browser, and a code that they type.

A `World` is a crib with two tenants, an authorization server, and an MCP server that trusts it.
"""

from __future__ import annotations

import asyncio
import re
from collections.abc import AsyncGenerator
from contextlib import AsyncExitStack, asynccontextmanager
from datetime import timedelta
from pathlib import Path
from typing import Any

import httpx
from sqlalchemy import Table, update

from tests.support.authorizing import Authorizing
from tests.support.crib import Crib, Person, open_crib
from tests.support.mcp_guarded import GuardedMcp
from tests.support.tenants import Tenants, make_tenants
from toolcrib.catalog.capabilities import CapabilityDraft
from toolcrib.settings import Settings
from toolcrib.storage.tables_logins import logins

CONNECTIONS = "/api/v1/mcp/connections"
OAUTH = {"type": "oauth2"}


class World:
    """A crib with two tenants, an authorization server, and an MCP server that trusts it."""

    def __init__(self, crib: Crib, tenants: Tenants, login: Authorizing, server: GuardedMcp):
        self.crib = crib
        self.tenants = tenants
        self.login = login
        self.server = server

    async def row(self, code: str = "guarded", **auth: Any) -> int:
        """The server as a capability; its id."""
        options = {
            "server_label": code,
            "server_url": self.server.url,
            "require_approval": "never",
            "auth": {**OAUTH, **auth},
        }
        draft = CapabilityDraft(
            name=code, code=code, type="mcp", options=options, access_type="system"
        )
        return (await self.crib.desk.capabilities.create(self.crib.operator, draft)).id

    async def begin(self, person: Person, ref: str, **more: Any) -> dict[str, Any]:
        answer = await person.api.post(CONNECTIONS, json={"ref": ref, **more})
        assert answer.status_code == 201, answer.text
        return answer.json()

    async def going(self, url: str, browser: httpx.AsyncClient) -> str:
        """Our page, read and agreed to: where the browser is sent."""
        page = await browser.get(url)
        assert page.status_code == 200, page.text
        sent = await browser.post(f"{url}/continue")
        assert sent.status_code == 303, sent.text
        return sent.headers["location"]

    async def coming(self, url: str, browser: httpx.AsyncClient) -> str:
        """The same, and agreed to at the authorization server: where the browser is sent back."""
        async with httpx.AsyncClient(trust_env=False) as outside:
            sent = await outside.get(await self.going(url, browser))
        assert sent.status_code == 302, sent.text
        return sent.headers["location"]

    async def visit(self, url: str) -> httpx.Response:
        """What a browser does: opens the address, agrees twice, and comes back to us."""
        browser = await self.crib.client()
        return await browser.get(await self.coming(url, browser))

    async def confirm(self, person: Person, ref: str, code: str, **more: Any) -> httpx.Response:
        body = {"code": code, **more}
        return await person.api.post(f"{CONNECTIONS}/{ref}/confirm", json=body)

    async def connect(self, person: Person, ref: str, **more: Any) -> httpx.Response:
        """A whole login: what its last step answers."""
        page = await self.visit((await self.begin(person, ref, **more))["url"])
        if page.status_code != 200:
            return page
        return await self.confirm(person, ref, code_of(page), **more)

    async def shown(self, person: Person) -> list[dict[str, Any]]:
        answer = await person.api.get(CONNECTIONS)
        assert answer.status_code == 200, answer.text
        return answer.json()["items"]

    async def until_listed(self, person: Person, agent: int, *names: str) -> dict[str, Any]:
        """The tools of an agent, once its server answered."""
        while True:
            found = (await person.api.get(f"/api/v1/agents/{agent}/tools")).json()
            if [tool["name"] for tool in found["tools"]] == list(names):
                return found
            await asyncio.sleep(0.05)


def code_of(page: httpx.Response) -> str:
    """The code that a browser shows at the end."""
    found = re.search(r"<code>([A-Z-]+)</code>", page.text)
    assert found is not None, page.text
    return found[1]


@asynccontextmanager
async def open_world(data_dir: Path, **settings: Any) -> AsyncGenerator[World]:
    """One with everything that it needs, on loopback."""
    made = Settings(data_dir=data_dir, egress_allow=("127.0.0.0/8",), **settings)
    async with AsyncExitStack() as stack:
        login = await stack.enter_async_context(Authorizing())
        server = await stack.enter_async_context(GuardedMcp(login))
        crib = await stack.enter_async_context(open_crib(made))
        yield World(crib, await make_tenants(crib), login, server)


@asynccontextmanager
async def another(world: World) -> AsyncGenerator[World]:
    """The same installation in another process, as far as that can be told: a second platform on
    the database, which has an address of its own."""
    async with open_crib(world.crib.platform.settings) as crib:
        yield World(crib, world.tenants, world.login, world.server)


async def change(world: World, table: Table, **values: Any) -> None:
    """As if time had passed: rows are written over."""
    async with world.crib.platform.storage.database.write() as connection:
        await connection.execute(update(table).values(**values))


async def age(world: World, by: timedelta = timedelta(minutes=5)) -> None:
    """As if the login had been written a while ago: one of this second is not renewed again."""
    now = world.crib.platform.storage.database.now()
    await change(world, logins, updated_at=now - by)
