"""This module lets the application listen, with agents that real MCP clients connect to."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from typing import Any

import httpx2
import pytest
from mcp.client import Client
from mcp.client.streamable_http import streamable_http_client

from tests.support.crib import Crib, Person, open_crib
from tests.support.listening import listening
from tests.support.tenants import Tenants, make_tenants
from toolcrib.settings import Settings
from toolcrib.sources.mcp.limits import Limits
from toolcrib.surfaces.mcp.gateway import Gateway

MODES = {"modern": "2026-07-28", "session": "legacy"}


@dataclass(frozen=True, kw_only=True)
class Door:
    """The gateway as a client sees it."""

    crib: Crib
    tenants: Tenants
    url: str

    def http(self, person: Person, **headers: str) -> httpx2.AsyncClient:
        told = {"Authorization": f"Bearer {person.token}", **headers}
        return httpx2.AsyncClient(headers=told, timeout=30)

    def place(self, agent: int) -> str:
        return f"{self.url}/mcp/agents/{agent}"

    async def settled(self, person: Person, agent: int, *names: str) -> int:
        """The agent, once its servers have listed these tools to the person."""
        while True:
            toolset = await self.crib.platform.resolve(agent, person.caller)
            if set(names) <= set(toolset.tools):
                return agent
            await asyncio.sleep(0.05)

    @asynccontextmanager
    async def client(
        self, person: Person, agent: int, era: str, **more: Any
    ) -> AsyncGenerator[Client]:
        """An SDK client that speaks one era."""
        async with self.http(person) as http:
            transport = streamable_http_client(self.place(agent), http_client=http)
            async with Client(transport, mode=MODES[era], **more) as client:
                yield client


@pytest.fixture
async def crib(settings: Settings) -> AsyncGenerator[Crib]:
    allowed = settings.model_copy(update={"egress_allow": ("127.0.0.0/8",)})
    async with open_crib(allowed, patience=Limits().patience) as opened:
        yield opened


@pytest.fixture
async def tenants(crib: Crib) -> Tenants:
    return await make_tenants(crib)


@pytest.fixture(params=["lean", "sdk"])
async def door(request: pytest.FixtureRequest, tenants: Tenants) -> AsyncGenerator[Door]:
    """Once as it is served, and once with the SDK serving and calling: nothing may differ."""
    app = tenants.crib.app
    tenants.crib.platform.servers.lean = request.param == "lean"
    app.state.gateway = Gateway(tenants.crib.platform, lean=request.param == "lean")
    async with listening(tenants.crib.app) as url:
        yield Door(crib=tenants.crib, tenants=tenants, url=url)
