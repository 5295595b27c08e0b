"""Tools called through the MCP gateway, beside what a gateway cannot do without.

    python benchmarks/gateway.py [--calls 640] [--rounds 7] [--part mcp] [--json] [--peers]

One REST endpoint on loopback. In turns, each server in a process of its own: a bare ASGI forwarder
to the endpoint, and Toolcrib's gateway with the endpoint as an API capability, in both eras of the
protocol (token, grants, argument check, journal in SQLite, guard, masking). Then an MCP server of
the SDK behind the gateway against the same server called directly, with one session kept and the
same client in front of both. Then the first page of 10,000 tools, and the server's memory.

With --peers also the same endpoint behind FastMCP (`from_openapi`) and ContextForge (a REST tool).
A ratio is the median over the rounds, each of which asks everybody in turn.
"""

from __future__ import annotations

import argparse
import asyncio
import contextlib
import tempfile
import time
from collections.abc import AsyncGenerator, Callable, Generator, Mapping
from contextlib import asynccontextmanager
from pathlib import Path
from statistics import median, quantiles
from typing import Any

import aiohttp
import httpx2
import orjson
import uvloop
from _figures import Figures
from _peers import contextforge, fastmcp
from _processes import Served, served
from http_tools import Call, Cost, Costs, Turn, crib, ratio, table, turn
from mcp.client import Client
from mcp.client.streamable_http import streamable_http_client

from toolcrib import open_platform
from toolcrib.catalog.capabilities import CapabilityDraft
from toolcrib.desk.operator import operator
from toolcrib.desk.setup import first_token
from toolcrib.grants.agents import AgentDraft
from toolcrib.plugin.registration import Registry
from toolcrib.settings import Settings

MODERN, SESSION = "2026-07-28", "2025-11-25"
BOTH = "application/json, text/event-stream"
LEAST = {MODERN: 0.6, SESSION: 0.25}
TIMES = {"FastMCP": 5, "ContextForge": 50}
"""How many times their calls ours should make."""
PROXIED = 0.7
UPSTREAM_TOOLS = {"look": "MCP tool that reads", "echo": "MCP tool that may write"}
"""A call that may change something is on disk before it is sent; one that says it reads is not."""
MANY = 10_000
P99_MS = 25.0
PAGE_MS = 20.0
IDLE_MB, BUSY_MB = 120.0, 250.0


# --- clients that cost next to nothing, so that the servers are what is measured ------------------


def enveloped(method: str, params: dict[str, Any], number: int) -> bytes:
    """A request of the newer era."""
    prefix = "io.modelcontextprotocol/"
    meta = {
        f"{prefix}protocolVersion": MODERN,
        f"{prefix}clientInfo": {"name": "bench", "version": "1"},
        f"{prefix}clientCapabilities": {},
    }
    whole = {**params, "_meta": meta}
    return orjson.dumps({"jsonrpc": "2.0", "id": number, "method": method, "params": whole})


class Raw:
    """Posts to one MCP endpoint over a shared session of aiohttp."""

    def __init__(self, http: aiohttp.ClientSession, url: str, token: str, era: str) -> None:
        self._http = http
        self._url = url
        self._era = era
        self._headers = {
            "Accept": BOTH,
            "Content-Type": "application/json",
            "MCP-Protocol-Version": era,
            **({"Authorization": f"Bearer {token}"} if token else {}),
        }
        self.times: list[float] = []

    async def open(self) -> None:
        """Shake hands, where the era does."""
        if self._era == MODERN:
            return
        client = {"name": "bench", "version": "1"}
        params = {"protocolVersion": self._era, "capabilities": {}, "clientInfo": client}
        hello = {"jsonrpc": "2.0", "id": 0, "method": "initialize", "params": params}
        headers = {k: v for k, v in self._headers.items() if k != "MCP-Protocol-Version"}
        async with self._http.post(self._url, json=hello, headers=headers) as answer:
            assert answer.status == 200, await answer.text()
            await answer.read()
            self._headers["Mcp-Session-Id"] = answer.headers["Mcp-Session-Id"]
        ready = {"jsonrpc": "2.0", "method": "notifications/initialized"}
        async with self._http.post(self._url, json=ready, headers=self._headers) as answer:
            assert answer.status == 202, await answer.text()

    async def ask(self, method: str, params: dict[str, Any], number: int) -> Any:
        headers = self._headers
        if self._era == MODERN:
            headers = {**headers, "Mcp-Method": method}
            if "name" in params:
                headers["Mcp-Name"] = params["name"]
            body = enveloped(method, params, number)
        else:
            message = {"jsonrpc": "2.0", "id": number, "method": method, "params": params}
            body = orjson.dumps(message)
        began = time.perf_counter()
        async with self._http.post(self._url, data=body, headers=headers) as answer:
            text = await answer.read()
        self.times.append(time.perf_counter() - began)
        if text.startswith(b"event"):
            text = next(line for line in text.splitlines() if line.startswith(b"data: "))[6:]
        told = orjson.loads(text)
        assert "result" in told, told
        return told["result"]

    def calls(self, tool: str) -> Call:
        async def call(number: int) -> None:
            arguments = {"city": "Oslo", "n": number}
            result = await self.ask("tools/call", {"name": tool, "arguments": arguments}, number)
            assert not result.get("isError"), result

        return call

    def p99_ms(self) -> float:
        return quantiles(self.times, n=100)[98] * 1000


def measured(call: Call, server: Served, options: argparse.Namespace) -> Turn:
    """CPU is the server's."""

    async def one(tool: str, at_once: int) -> Cost:
        return await turn(call, calls=options.calls, at_once=at_once, cpu=lambda: server.cpu)

    return one


async def rounds(ways: Mapping[str, Turn], at_once: int, count: int) -> Costs:
    costs = Costs()
    for number in range(count + 1):
        for way, one in ways.items():
            cost = await one("", at_once)
            if number:  # the first one warms up
                costs.add(way, cost)
    return costs


# --- a REST tool ----------------------------------------------------------------------------------


async def rest_tool(figures: Figures, options: argparse.Namespace, place: str) -> None:
    with contextlib.ExitStack() as stack:
        folder = stack.enter_context(tempfile.TemporaryDirectory())
        async with crib(Path(folder), place) as bench:
            pass
        server = stack.enter_context(toolcrib(folder, place))
        floor = stack.enter_context(served("_endpoint:forwarder", env={"UPSTREAM": place}))
        figures.add("memory before the first MCP request", resident(server), "MB", most=IDLE_MB)
        async with aiohttp.ClientSession() as http:
            url = f"http://{server.place}/mcp/agents/{bench.agent}"
            raws = {era: Raw(http, url, bench.token, era) for era in (MODERN, SESSION)}
            ways = {"forwarder": measured(forwarded(http, floor), floor, options)}
            for era, raw in raws.items():
                await raw.open()
                ways[f"gateway {era}"] = measured(raw.calls("api_get"), server, options)
            if options.peers:
                ways.update(peers(figures, options, stack, http, place))
            for at_once in (1, 32):
                for raw in raws.values():
                    raw.times.clear()
                costs = await rounds(ways, at_once, options.rounds)
                what = f"tools/call c{at_once}"
                table(figures, what, costs)
                for era, raw in raws.items():
                    ratio(figures, what, costs, (f"gateway {era}", "forwarder"), LEAST[era])
                    for peer in ways.keys() & TIMES.keys():
                        ratio(figures, what, costs, (f"gateway {era}", peer), TIMES[peer])
                    if at_once == 32:
                        figures.add(f"{what}: p99 {era}", raw.p99_ms(), "ms", most=P99_MS)
        figures.add("memory after the calls", resident(server), "MB", most=BUSY_MB)


def peers(
    figures: Figures,
    options: argparse.Namespace,
    stack: contextlib.ExitStack,
    http: aiohttp.ClientSession,
    place: str,
) -> dict[str, Turn]:
    """Those that can be had here. ContextForge gets a tenth of the calls: one takes it 30 ms."""
    ways: dict[str, Turn] = {}
    tenth = argparse.Namespace(calls=max(32, options.calls // 10))
    for name, opened, era, asked in (
        ("FastMCP", fastmcp(place), MODERN, options),
        ("ContextForge", contextforge(place), SESSION, tenth),
    ):
        peer = stack.enter_context(opened)
        if isinstance(peer, str):
            figures.add(f"{name} is absent", 0, "", note=peer)
        else:
            raw = Raw(http, peer.url, peer.token, era)
            ways[name] = measured(raw.calls(peer.tool), peer.server, asked)
    return ways


def forwarded(http: aiohttp.ClientSession, floor: Served) -> Call:
    url = f"http://{floor.place}/get"

    async def call(number: int) -> None:
        body = orjson.dumps({"arguments": {"city": "Oslo", "n": number}})
        headers = {"Content-Type": "application/json"}
        async with http.post(url, data=body, headers=headers) as answer:
            assert orjson.loads(await answer.read())["success"]

    return call


@contextlib.contextmanager
def toolcrib(folder: str, *places: str) -> Generator[Served]:
    env = {
        "TOOLCRIB_DATA_DIR": folder,
        "TOOLCRIB_EGRESS_ALLOW": ",".join(places),
        "TOOLCRIB_LOG_LEVEL": "warning",
    }
    options = ("--factory", "--http", "toolcrib.asgi.joining:JoiningProtocol")
    with served("toolcrib.asgi:create_app", *options, env=env) as server:
        yield server


def resident(server: Served) -> float:
    """In MB."""
    for line in Path(f"/proc/{server.pid}/status").read_text().splitlines():
        if line.startswith("VmRSS"):
            return int(line.split()[1]) / 1024
    raise RuntimeError("the kernel does not say")


# --- an MCP server's tool -------------------------------------------------------------------------


@asynccontextmanager
async def client(url: str, token: str, era: str) -> AsyncGenerator[Client]:
    headers = {"Authorization": f"Bearer {token}"} if token else {}
    async with httpx2.AsyncClient(headers=headers, timeout=60) as http:
        transport = streamable_http_client(url, http_client=http)
        mode = MODERN if era == MODERN else "legacy"
        async with Client(transport, mode=mode) as opened:
            await opened.list_tools()
            yield opened


def sdk_calls(opened: Client, tool: str) -> Call:
    async def call(number: int) -> None:
        result = await opened.call_tool(tool, {"city": "Oslo", "n": number})
        assert not result.is_error, result

    return call


async def mcp_tool(figures: Figures, options: argparse.Namespace) -> None:
    with contextlib.ExitStack() as stack:
        folder = stack.enter_context(tempfile.TemporaryDirectory())
        upstream = stack.enter_context(served("_mcp_upstream:app"))
        agent, token = await with_server(Path(folder), f"http://{upstream.place}/mcp")
        server = stack.enter_context(toolcrib(folder, upstream.place))
        gateway = f"http://{server.place}/mcp/agents/{agent}"
        direct = f"http://{upstream.place}/mcp"
        for era in (MODERN, SESSION):
            async with client(gateway, token, era) as ours, client(direct, "", era) as theirs:
                for tool, words in UPSTREAM_TOOLS.items():
                    ways = {
                        "direct": measured(sdk_calls(theirs, tool), upstream, options),
                        "gateway": measured(sdk_calls(ours, tool), server, options),
                    }
                    for at_once in (1, 32):
                        costs = await rounds(ways, at_once, options.rounds)
                        what = f"{words} {era} c{at_once}"
                        table(figures, what, costs)
                        ratio(figures, what, costs, ("gateway", "direct"), PROXIED)


async def with_server(folder: Path, url: str) -> tuple[int, str]:
    """An agent that holds the server's tools, and a token."""
    place = url.split("/")[2]
    async with crib(folder, place) as bench:
        options = {"server_label": "echo", "server_url": url, "require_approval": "never"}
        draft = CapabilityDraft(
            name="echo", code="echo", type="mcp", options=options, access_type="system"
        )
        desk = bench.platform.desk
        row = await desk.capabilities.create(operator(), draft)
        agent = await desk.agents.create(
            operator(),
            AgentDraft(name="echo", creator_id=1, group_id=bench.caller.group_id),
            capabilities=[row.id],
        )
        return agent.id, bench.token


# --- many tools -----------------------------------------------------------------------------------


def many(count: int = MANY) -> Registry:
    registry = Registry()

    def made(number: int) -> Callable[..., Any]:
        async def tool(city: str, n: int = 1) -> str:
            """One of many."""
            return city

        tool.__name__ = f"tool_{number}"
        return tool

    registry.register_tools("many", [made(number) for number in range(count)], name="Many")
    return registry


async def long_list(figures: Figures) -> None:
    """In one process with its server: what one page costs, and all of them."""
    from toolcrib.asgi import create_app_for

    with tempfile.TemporaryDirectory() as folder:
        settings = Settings(data_dir=Path(folder), log_level="warning")
        async with open_platform(settings, registry=many()) as platform:
            root, storage = operator(), platform.storage
            await first_token(storage.users, storage.tokens, storage.signals, given=None)
            draft = AgentDraft(name="many", creator_id=1)
            made = CapabilityDraft(name="many", code="many", access_type="system")
            row = await platform.desk.capabilities.create(root, made)
            agent = await platform.desk.agents.create(root, draft, capabilities=[row.id])
            _, token = await platform.desk.tokens.create(root, user_id=1, name="bench")
            transport = httpx2.ASGITransport(create_app_for(platform))
            url = f"http://127.0.0.1:8420/mcp/agents/{agent.id}"
            async with httpx2.AsyncClient(transport=transport) as http:
                times = [await first_page(http, url, token.text) for _ in range(12)]
    figures.add("tools/list of 10,000, first page, first time", times[0] * 1000, "ms")
    figures.add("tools/list of 10,000, first page", median(times[2:]) * 1000, "ms", most=PAGE_MS)


async def first_page(http: httpx2.AsyncClient, url: str, token: str) -> float:
    headers = {
        "Authorization": f"Bearer {token}",
        "Accept": BOTH,
        "Content-Type": "application/json",
        "MCP-Protocol-Version": MODERN,
        "Mcp-Method": "tools/list",
    }
    began = time.perf_counter()
    answer = await http.post(url, content=enveloped("tools/list", {}, 1), headers=headers)
    spent = time.perf_counter() - began
    assert "nextCursor" in answer.json()["result"], answer.text[:200]
    return spent


async def run(options: argparse.Namespace, place: str) -> Figures:
    figures = Figures()
    if options.part in {"rest", "all"}:
        await rest_tool(figures, options, place)
    if options.part in {"mcp", "all"}:
        await mcp_tool(figures, options)
    if options.part in {"list", "all"}:
        await long_list(figures)
    return figures


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--calls", type=int, default=640, help="calls of one turn")
    parser.add_argument("--rounds", type=int, default=7)
    parser.add_argument("--part", choices=("rest", "mcp", "list", "all"), default="all")
    parser.add_argument("--peers", action="store_true", help="install and measure others")
    parser.add_argument("--json", action="store_true")
    options = parser.parse_args()
    runner = asyncio.Runner(loop_factory=uvloop.new_event_loop)
    with served("_endpoint:upstream") as upstream, runner:
        figures = runner.run(run(options, upstream.place))
    figures.show(as_json=options.json)


if __name__ == "__main__":
    main()
