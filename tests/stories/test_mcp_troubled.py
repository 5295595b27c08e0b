"""Servers in trouble behind an agent: the others are there at once, and who asks is told why."""

from __future__ import annotations

import asyncio
import json
import sys
from collections.abc import AsyncGenerator, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import httpx2
import mcp_types as types
import pytest
from mcp.client import Client
from mcp.client.streamable_http import streamable_http_client
from mcp.client.subscriptions import listen
from mcp.shared.exceptions import MCPError
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from tests.stories.test_mcp_upstream import agent_of, call, listed, server_row, tools_of
from tests.support.crib import Crib, Person, open_crib
from tests.support.listening import listening
from tests.support.mcp_http import HttpMcp, tool_of
from tests.support.tenants import Tenants, make_tenants
from toolcrib.settings import Settings
from toolcrib.sources.mcp.limits import Limits

MODES = {"modern": "auto", "session": "legacy"}
"""Pinned to the newer era a client would not ask who serves it, and read no instructions."""
STDIO = Path(__file__).parents[1] / "support" / "mcp_stdio.py"
BRIEFLY = {
    "could not be reached": "the server is away",
    "missing API key": "the server is away",
    "has not answered yet": "the server has not answered yet",
    "text/html": "the server answers with an error",
    "repeats a cursor": "its list of tools repeats a cursor",
}
"""What a model reads where a person reads the key."""
OPENING = 100.0
"""Seconds that a server has to answer: none that hangs is given up before a story ends."""
SOON = OPENING / 2
"""Whoever waited for a server that never answers would need twice as long."""


@dataclass
class Streams:
    """The application, with word of the streams on which clients of the older era listen."""

    app: ASGIApp
    opened: asyncio.Event = field(default_factory=asyncio.Event)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        async def told(message: Message) -> None:
            await send(message)
            if scope.get("method") == "GET" and message["type"] == "http.response.start":
                self.opened.set()

        await self.app(scope, receive, told)


@dataclass(frozen=True, kw_only=True)
class Place:
    """The application, listening."""

    tenants: Tenants
    url: str
    streams: Streams

    @property
    def crib(self) -> Crib:
        return self.tenants.crib

    @asynccontextmanager
    async def client(self, agent: int, era: str, **more: Any) -> AsyncGenerator[Client]:
        headers = {"Authorization": f"Bearer {self.tenants.user_a.token}"}
        async with httpx2.AsyncClient(headers=headers, timeout=60) as http:
            transport = streamable_http_client(f"{self.url}/mcp/agents/{agent}", http_client=http)
            async with Client(transport, mode=MODES[era], **more) as client:
                yield client


@pytest.fixture
async def place(data_dir: Path) -> AsyncGenerator[Place]:
    settings = Settings(
        data_dir=data_dir,
        egress_allow=("127.0.0.0/8",),
        stdio_allow=(Path(sys.executable).name,),
    )
    async with open_crib(settings, patience=Limits().patience) as crib:
        servers = crib.platform.servers
        servers.limits = replace(servers.limits, opening=OPENING)
        streams = Streams(crib.app)
        async with listening(streams) as url:
            await crib.platform.servers.prepare()
            yield Place(tenants=await make_tenants(crib), url=url, streams=streams)


def package(slug: str, **behaviour: Any) -> dict[str, Any]:
    config = {
        "command": sys.executable,
        "args": [str(STDIO), json.dumps(behaviour)],
        "tool_name": "echo",
    }
    return {"slug": slug, "name": slug, "type": "mcp_stdio", "config": config}


@asynccontextmanager
async def troubled(place: Place) -> AsyncGenerator[tuple[int, Mapping[str, str]]]:
    """An agent with one good server among bad ones, and words of what is wrong by their refs."""
    crib = place.crib
    async with (
        HttpMcp("session") as good,
        HttpMcp("session") as hung,
        HttpMcp("modern") as lying,
        HttpMcp("session") as flooding,
    ):
        hung.hang = True
        lying.html = True
        same = {"tools": [tool_of("flood")], "nextCursor": "same"}
        flooding.pages = {"": same, "same": same}
        dead = await server_row(crib, "dead", "http://127.0.0.1:9/mcp")
        rows = {
            f"mcp:{dead}": "could not be reached",
            f"mcp:{await server_row(crib, 'hung', hung.url)}": "has not answered yet",
            f"mcp:{await server_row(crib, 'lying', lying.url)}": "text/html",
            f"mcp:{await server_row(crib, 'flooding', flooding.url)}": "repeats a cursor",
        }
        slugs = {"silent": "has not answered yet", "gone": "missing API key"}
        await crib.desk.packages.install(crib.operator, package("silent", never_initialize=True))
        gone = package("gone", exit_before=3, say="missing API key")
        await crib.desk.packages.install(crib.operator, gone)
        held = [await server_row(crib, "good", good.url), *(int(ref[4:]) for ref in rows)]
        codes = [f"installed__{slug}" for slug in slugs]
        agent = await agent_of(place.tenants, place.tenants.root, *held, *codes)
        packages = {f"package:installed__{slug}/{slug}": why for slug, why in slugs.items()}
        yield agent, {**rows, **packages}


def wrong(expected: Mapping[str, str], told: Mapping[str, str]) -> Sequence[str]:
    """Refs of which the reason is missing."""
    return [ref for ref, words in expected.items() if words not in told.get(ref, "")]


async def settled(place: Place, agent: int, expected: Mapping[str, str]) -> None:
    """Return once every server that can be known is: processes take a moment to start."""
    while True:
        answer = await tools_of(place.tenants.user_a, agent)
        if not wrong(expected, {one["ref"]: one["reason"] for one in answer["skipped"]}):
            return
        await asyncio.sleep(0.1)


async def test_rest_lists_the_healthy_ones_at_once(place: Place) -> None:
    """The first answer waits for nobody, and the servers' own page says the same as `skipped`."""
    user = place.tenants.user_a
    async with troubled(place) as (agent, expected):
        loop = asyncio.get_running_loop()
        began = loop.time()
        answer = await tools_of(user, agent)
        assert loop.time() - began < SOON
        assert {tool["name"] for tool in answer["tools"]} <= {"echo", "flood"}
        answer = await listed(user, agent, "echo", "flood")
        await settled(place, agent, expected)
        assert (await call(user, agent, "echo", a=1))["success"] is True

        began = loop.time()
        servers = (await user.api.get("/api/v1/mcp/servers")).json()["items"]
        assert loop.time() - began < SOON
    states = {one["label"]: (one["status"], (one["error"] or {}).get("code")) for one in servers}
    assert states == {
        "good": ("connected", None),
        "flooding": ("connected", None),
        "dead": ("failed", "unreachable"),
        "lying": ("failed", "upstream_error"),
        "hung": ("connecting", None),
        "silent": ("connecting", None),
        "gone": ("failed", "unreachable"),
    }


@pytest.mark.parametrize("era", list(MODES))
async def test_clients_list_the_healthy_ones_at_once(place: Place, era: str) -> None:
    """An MCP client waits for nobody either. It reads what is missing in two places: a person the
    servers' own words, a model only what kind of trouble it is."""
    async with troubled(place) as (agent, expected):
        loop = asyncio.get_running_loop()
        began = loop.time()
        async with place.client(agent, era) as client:
            first = await client.list_tools()
        assert loop.time() - began < SOON
        assert {tool.name for tool in first.tools} <= {"echo", "flood"}
        await listed(place.tenants.user_a, agent, "echo", "flood")
        await settled(place, agent, expected)
        async with place.client(agent, era) as client:
            page = await client.list_tools()
            said = client.instructions or ""
    assert {tool.name for tool in page.tools} == {"echo", "flood"}
    told = {one["ref"]: one["reason"] for one in (page.meta or {})["toolcrib/skipped"]}
    assert wrong(expected, told) == []
    lines = dict(line[2:].split(": ", 1) for line in said.splitlines() if line.startswith("- "))
    assert wrong({ref: BRIEFLY[words] for ref, words in expected.items()}, lines) == []
    assert len(lines) == len(expected)


@pytest.mark.parametrize("era", list(MODES))
async def test_a_server_that_comes_back_is_announced(place: Place, era: str) -> None:
    """Nobody does anything: the server is there again, and whoever listens is told."""
    told = asyncio.Event()

    async def hear(message: object) -> None:
        if isinstance(message, types.ToolListChangedNotification):
            told.set()

    async with HttpMcp("session") as server:
        pass
    row = await server_row(place.crib, "back", server.url)
    agent = await agent_of(place.tenants, place.tenants.root, row)
    async with asyncio.timeout(60), place.client(agent, era, message_handler=hear) as client:
        assert (await client.list_tools()).tools == []
        if era == "session":
            await place.streams.opened.wait()
            async with HttpMcp("session", port=server.port):
                await told.wait()
                tools = (await client.list_tools()).tools
        else:
            async with (
                listen(client.session, tools_list_changed=True) as news,
                HttpMcp("session", port=server.port),
            ):
                await anext(aiter(news))
                tools = (await client.list_tools()).tools
    assert [tool.name for tool in tools] == ["echo"]


@pytest.mark.parametrize("era", list(MODES))
async def test_a_call_of_a_tool_that_is_away_says_whose_it_is(place: Place, era: str) -> None:
    """Who was shown a tool and calls it while its server is down reads what is wrong with it."""
    crib, user = place.crib, place.tenants.user_a
    async with HttpMcp("session") as server:
        row = await server_row(crib, "away", server.url)
        agent = await agent_of(place.tenants, place.tenants.root, row)
        await listed(user, agent, "echo")
    await gone(user, agent, f"mcp:{row}")
    async with place.client(agent, era) as client:
        with pytest.raises(MCPError) as raised:
            await client.call_tool("echo", {})
        with pytest.raises(MCPError) as other:
            await client.call_tool("never_seen", {})
    assert raised.value.code == -32602
    assert "Unknown tool: echo" in raised.value.message
    assert f"now: it is one of mcp:{row}: the server is away" in raised.value.message
    assert f"may be one of those that are not available now: mcp:{row}" in other.value.message
    answer = await user.api.post(f"/api/v1/agents/{agent}/tools/echo/call", json={"arguments": {}})
    assert answer.status_code == 404
    assert f"mcp:{row}: the server is away" in answer.json()["detail"]


async def gone(user: Person, agent: int, ref: str) -> None:
    """Look at a server anew, until its tools are not listed any more."""
    while (await tools_of(user, agent))["tools"]:
        await user.api.post(f"/api/v1/mcp/servers/{ref}/refresh")


async def test_servers_of_packages_are_shown_to_those_who_may_have_their_tools(
    place: Place,
) -> None:
    """Admins see every package's server, others those behind their agents; a disabled one too."""
    crib, tenants = place.crib, place.tenants
    for slug in ("mine", "off", "other"):
        await crib.desk.packages.install(crib.operator, package(slug))
    await crib.desk.packages.switch(crib.operator, "off", enabled=False)
    held = [f"installed__{slug}" for slug in ("mine", "off")]
    agent = await agent_of(tenants, tenants.root, *held)
    await listed(tenants.user_a, agent, "mine")

    async def shown(person: Person, **more: Any) -> dict[str, tuple[str, list[str]]]:
        page = (await person.api.get("/api/v1/mcp/servers", params=more)).json()
        return {one["ref"]: (one["status"], one["tools"]) for one in page["items"]}

    mine = {"package:mine": ("connected", ["mine"]), "package:off": ("disabled", [])}
    assert await shown(tenants.user_a) == mine
    assert await shown(tenants.user_b) == {}
    assert set(await shown(tenants.admin_a)) == {*mine, "package:other"}

    async with HttpMcp("session") as server:
        row = await server_row(crib, "row", server.url)
        first = (await tenants.user_a.api.get("/api/v1/mcp/servers", params={"limit": 2})).json()
        assert [one["ref"] for one in first["items"]] == [f"mcp:{row}", "package:mine"]
        assert set(await shown(tenants.user_a, cursor=first["next_cursor"])) == {"package:off"}

    again = await tenants.user_a.api.post("/api/v1/mcp/servers/package:mine/refresh")
    assert again.json()["tools"] == ["mine"]
    for ref in ("package:other", "package:nothing", "package:mine"):
        hidden = await tenants.user_b.api.post(f"/api/v1/mcp/servers/{ref}/refresh")
        assert hidden.status_code == 404
