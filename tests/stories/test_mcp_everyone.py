"""Servers of many makers behind one agent, and clients of many makers before it: all with all."""

from __future__ import annotations

import asyncio
import json
import os
import sys
from collections.abc import AsyncGenerator, Mapping, Sequence
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import httpx2
import pytest
from langchain_core.language_models.fake_chat_models import ParrotFakeChatModel
from mcp.client import Client
from mcp.client.streamable_http import streamable_http_client

from tests.support.crib import Crib, Person, open_crib
from tests.support.listening import listening
from tests.support.mcp_real import CLIENTS, npm_folder, npm_server, python_of
from tests.support.ports import quiet_port
from tests.support.tenants import make_tenants
from toolcrib.catalog.capabilities import CapabilityDraft
from toolcrib.grants.agents import AgentDraft
from toolcrib.langchain import attach_mcp, get_tools_from_capabilities
from toolcrib.settings import Settings
from toolcrib.testing.replies import json_answer
from toolcrib.testing.upstream import RecordingUpstream

SUPPORT = Path(__file__).parents[1] / "support"
MODERN = "2026-07-28"
FAST = """
from fastmcp import FastMCP
import sys

server = FastMCP("fast")

@server.tool
def multiply(a: int, b: int) -> int:
    "Multiply two numbers."
    return a * b

server.run(transport="http", host="127.0.0.1", port=int(sys.argv[1]), show_banner=False)
"""
Calls = Mapping[str, tuple[Mapping[str, Any], str]]
"""By the tool's name: arguments, and words that are in the answer."""
PROGRAM_SECONDS = 100


@dataclass(frozen=True, kw_only=True)
class Everyone:
    """An agent of all servers, listening. `calls` has one of every server."""

    crib: Crib
    user: Person
    agent: int
    url: str
    calls: Calls

    async def listed(self) -> None:
        """Return once every server has told its tools."""
        while True:
            toolset = await self.crib.platform.resolve(self.agent, self.user.caller)
            if set(self.calls) <= set(toolset.tools):
                return
            await asyncio.sleep(0.1)

    def arguments(self) -> str:
        return json.dumps({name: given for name, (given, _) in self.calls.items()})

    def check(self, tools: Sequence[str], results: Mapping[str, str]) -> None:
        """All are listed, and each call gave what its server gives."""
        assert set(self.calls) <= set(tools)
        wrong = {
            name: results.get(name)
            for name, (_, words) in self.calls.items()
            if words not in results.get(name, "")
        }
        assert wrong == {}


@asynccontextmanager
async def running(command: Sequence[str], port: int, **env: str) -> AsyncGenerator[None]:
    """A server as a process that listens on a port."""
    process = await asyncio.create_subprocess_exec(
        *command,
        env={**os.environ, **env},
        stdout=asyncio.subprocess.DEVNULL,
        stderr=asyncio.subprocess.DEVNULL,
    )
    try:
        async with asyncio.timeout(100):
            while True:
                assert process.returncode is None, f"{command} ended"
                try:
                    _, writer = await asyncio.open_connection("127.0.0.1", port)
                except OSError:
                    await asyncio.sleep(0.1)
                    continue
                writer.close()
                await writer.wait_closed()
                break
        yield
    finally:
        process.kill()
        await process.wait()


async def program(*command: str, **env: str) -> str:
    """What a client's program printed; it fails with what it said."""
    process = await asyncio.create_subprocess_exec(
        *command,
        env={**os.environ, **env},
        stdin=asyncio.subprocess.DEVNULL,
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.PIPE,
    )
    try:
        async with asyncio.timeout(PROGRAM_SECONDS):
            said, complained = await process.communicate()
    finally:
        if process.returncode is None:
            process.kill()
            await process.wait()
    assert process.returncode == 0, complained.decode()[-2000:]
    return said.decode()


def stdio(slug: str, command: Sequence[str], tool: str) -> dict[str, Any]:
    config = {"command": command[0], "args": list(command[1:]), "tool_name": tool}
    return {"slug": slug, "name": slug, "type": "mcp_stdio", "config": config}


async def row(crib: Crib, code: str, kind: str, **options: Any) -> int:
    draft = CapabilityDraft(name=code, code=code, type=kind, options=options, access_type="system")
    return (await crib.desk.capabilities.create(crib.operator, draft)).id


async def server_row(crib: Crib, code: str, port: int) -> int:
    url = f"http://127.0.0.1:{port}/mcp"
    return await row(crib, code, "mcp", server_label=code, server_url=url, require_approval="never")


async def install(crib: Crib, folder: Path, sse: int) -> Sequence[str]:
    """Packages of servers, the codes of which come back."""
    everything = npm_server("@modelcontextprotocol/server-everything")
    files = npm_server("@modelcontextprotocol/server-filesystem")
    memory = npm_server("@modelcontextprotocol/server-memory")
    python = python_of("mcp-server-time", "mcp-server-git")
    over_sse = {"endpoint": f"http://127.0.0.1:{sse}/sse", "tool_name": "echo"}
    documents = [
        stdio("say_by_stdio", [*everything, "stdio"], "echo"),
        {"slug": "say_by_sse", "name": "Over SSE", "type": "mcp_sse", "config": over_sse},
        stdio("list_files", [*files, str(folder)], "list_directory"),
        stdio("graph", memory, "read_graph"),
        stdio("clock", [python, "-m", "mcp_server_time"], "get_current_time"),
        stdio("repository", [python, "-m", "mcp_server_git"], "git_status"),
    ]
    for document in documents:
        await crib.desk.packages.install(crib.operator, document)
    return [f"installed__{document['slug']}" for document in documents]


def calls_of(folder: Path) -> Calls:
    return {
        "echo": ({"message": "over HTTP"}, "over HTTP"),
        "say_by_sse": ({"message": "over SSE"}, "over SSE"),
        "say_by_stdio": ({"message": "over pipes"}, "over pipes"),
        "list_files": ({"path": str(folder)}, "a.txt"),
        "graph": ({}, "entities"),
        "clock": ({"timezone": "Europe/Oslo"}, "Europe/Oslo"),
        "repository": ({"repo_path": str(folder)}, "a.txt"),
        "multiply": ({"a": 6, "b": 7}, "42"),
        "hello": ({"name": "Ada"}, "hello Ada"),
        "weather": ({}, "sunny"),
    }


@pytest.fixture
async def everyone(data_dir: Path, tmp_path: Path) -> AsyncGenerator[Everyone]:
    everything = npm_server("@modelcontextprotocol/server-everything")
    fast = python_of("fastmcp>=4")
    folder = tmp_path / "repository"
    folder.mkdir()
    (folder / "a.txt").write_text("hello")
    await program("git", "-C", str(folder), "init", "-q")
    http, sse, quick = [quiet_port() for _ in range(3)]
    settings = Settings(
        data_dir=data_dir,
        egress_allow=("127.0.0.0/8",),
        stdio_allow=("node", "python", Path(sys.executable).name),
    )
    async with AsyncExitStack() as stack:
        upstream = await stack.enter_async_context(RecordingUpstream())
        upstream.reply("/weather", json_answer({"sky": "sunny"}))
        crib = await stack.enter_async_context(open_crib(settings))
        tenants = await make_tenants(crib)
        for command, port in (
            ([*everything, "streamableHttp"], http),
            ([*everything, "sse"], sse),
            ([fast, "-c", FAST, str(quick)], quick),
        ):
            await stack.enter_async_context(running(command, port, PORT=str(port)))
        held = [
            await server_row(crib, "everything", http),
            await server_row(crib, "fast", quick),
            await row(crib, "weather", "api", name="weather", url=upstream.url("/weather")),
            *await install(crib, folder, sse),
            "greet",
        ]
        made = await tenants.agent(tenants.admin_a, tenants.a, "greet")
        draft = AgentDraft(name="everyone", creator_id=tenants.user_a.id, group_id=tenants.a)
        agent = await crib.desk.agents.create(
            tenants.root.caller, draft, capabilities=[*held[:-1], *made.capability_ids]
        )
        url = await stack.enter_async_context(listening(crib.app))
        found = Everyone(
            crib=crib,
            user=tenants.user_a,
            agent=agent.id,
            url=f"{url}/mcp/agents/{agent.id}",
            calls=calls_of(folder),
        )
        async with asyncio.timeout(200):  # processes start, some of them slowly
            await found.listed()
        yield found


async def by_python(one: Everyone, mode: str) -> None:
    """The Python SDK's client, in the era of this mode."""
    headers = {"Authorization": f"Bearer {one.user.token}"}
    async with httpx2.AsyncClient(headers=headers, timeout=60) as http:
        transport = streamable_http_client(one.url, http_client=http)
        async with Client(transport, mode=mode) as client:
            tools = [tool.name for tool in (await client.list_tools()).tools]
            results = {
                name: (await client.call_tool(name, dict(given))).model_dump_json()
                for name, (given, _) in one.calls.items()
            }
    one.check(tools, results)


async def by_typescript(one: Everyone, modules: Path, sdk: str) -> None:
    """The TypeScript SDK: the one that knows only the older era, and the newer in both."""
    script, node = str(SUPPORT / "mcp_clients.mjs"), str(modules / "node" / "bin" / "node")
    said = await program(node, script, str(modules), sdk, one.url, one.user.token, one.arguments())
    got = json.loads(said)
    one.check(got["tools"], {name: json.dumps(value) for name, value in got["results"].items()})


async def by_inspector(one: Everyone, modules: Path, home: Path, era: str) -> None:
    """The Inspector's command line, a process for every request."""
    entry = modules / "@modelcontextprotocol" / "inspector" / "clients" / "launcher" / "build"
    common = [
        str(modules / "node" / "bin" / "node"),
        str(entry / "index.js"),
        *("--cli", one.url, "--transport", "http", "--protocol-era", era),
        *("--header", f"Authorization: Bearer {one.user.token}"),
        *("--connect-timeout", "60000", "--format", "json", "--quiet", "--stored-auth-only"),
    ]
    at_once = asyncio.Semaphore(2)

    async def ask(*more: str) -> str:
        async with at_once:
            return await program(*common, *more, HOME=str(home))

    async def call(name: str, given: Mapping[str, Any]) -> tuple[str, str]:
        arguments = ("--tool-args-json", json.dumps(given)) if given else ()
        return name, await ask("--method", "tools/call", "--tool-name", name, *arguments)

    async with asyncio.TaskGroup() as group:
        listing = group.create_task(ask("--method", "tools/list"))
        calls = [group.create_task(call(name, given)) for name, (given, _) in one.calls.items()]
    tools = [tool["name"] for tool in json.loads(listing.result())["result"]["tools"]]
    one.check(tools, dict(task.result() for task in calls))


async def by_adapters(one: Everyone, python: str) -> None:
    """LangChain's own client of MCP servers."""
    script = str(SUPPORT / "mcp_adapters.py")
    got = json.loads(await program(python, script, one.url, one.user.token, one.arguments()))
    one.check(got["tools"], got["results"])


async def by_langchain(one: Everyone) -> None:
    """LangChain in this process, for a model whose vendor connects to no server."""
    agent = await one.crib.platform.resolver.agent(one.agent, one.user.caller)
    config: Any = {
        "configurable": {"logged_user_id": one.user.id, "group_id": one.user.caller.group_id}
    }
    tools, configs = await get_tools_from_capabilities(
        [*agent.capability_ids, *agent.codes],
        config,
        platform=one.crib.platform,
        fallback="connect",
    )
    _, given = attach_mcp(ParrotFakeChatModel(), tools, configs, fallback="connect")
    found = {tool.name: tool for tool in given}
    one.check(
        list(found),
        {
            name: str(await found[name].ainvoke(dict(arguments), config))
            for name, (arguments, _) in one.calls.items()
        },
    )


@pytest.mark.timeout(600)
async def test_every_client_calls_every_server(everyone: Everyone, tmp_path: Path) -> None:
    """One agent holds servers of five makers, a plugin and a REST tool; every client uses all."""
    modules = await asyncio.to_thread(npm_folder, *CLIENTS)
    adapters = await asyncio.to_thread(python_of, "langchain-mcp-adapters")
    await by_python(everyone, MODERN)
    await by_python(everyone, "legacy")
    for sdk in ("older", "legacy", MODERN):
        await by_typescript(everyone, modules, sdk)
    for era in ("legacy", "modern"):
        await by_inspector(everyone, modules, tmp_path, era)
    await by_adapters(everyone, adapters)
    await by_langchain(everyone)
