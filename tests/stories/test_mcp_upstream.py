"""MCP servers behind an agent: real ones of every kind, bad ones beside good ones, and names."""

from __future__ import annotations

import asyncio
import os
import socket
import sys
from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import httpx
import pytest

from tests.support.crib import Crib, Person, open_crib
from tests.support.mcp_http import HttpMcp, text, tool_of
from tests.support.mcp_real import npm_server, python_of
from tests.support.tenants import Tenants, make_tenants
from toolcrib.catalog.capabilities import CapabilityDraft
from toolcrib.grants.agents import AgentDraft
from toolcrib.settings import Settings

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


@pytest.fixture
async def crib(data_dir: Path) -> AsyncIterator[Crib]:
    settings = Settings(
        data_dir=data_dir,
        egress_allow=("127.0.0.0/8",),
        stdio_allow=("node", "python", Path(sys.executable).name),
    )
    async with open_crib(settings) as crib:
        yield crib


@pytest.fixture
async def tenants(crib: Crib) -> Tenants:
    return await make_tenants(crib)


async def server_row(crib: Crib, code: str, url: str, **more: Any) -> int:
    options = {"server_label": code, "server_url": url, "require_approval": "never", **more}
    draft = CapabilityDraft(name=code, code=code, type="mcp", options=options, access_type="system")
    return (await crib.desk.capabilities.create(crib.operator, draft)).id


async def agent_of(tenants: Tenants, person: Person, *held: int | str) -> int:
    draft = AgentDraft(name="agent", creator_id=person.id, group_id=tenants.a)
    return (await tenants.crib.desk.agents.create(person.caller, draft, capabilities=held)).id


async def tools_of(person: Person, agent: int) -> dict[str, Any]:
    answer = await person.api.get(f"/api/v1/agents/{agent}/tools")
    assert answer.status_code == 200, answer.text
    return answer.json()


async def call(person: Person, agent: int, name: str, **arguments: Any) -> dict[str, Any]:
    answer = await person.api.post(
        f"/api/v1/agents/{agent}/tools/{name}/call", json={"arguments": arguments}
    )
    assert answer.status_code == 200, answer.text
    return answer.json()


async def listed(person: Person, agent: int, *names: str) -> dict[str, Any]:
    """The agent's tools once these are among them."""
    while True:
        answer = await tools_of(person, agent)
        if set(names) <= {tool["name"] for tool in answer["tools"]}:
            return answer
        await asyncio.sleep(0.1)


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


@asynccontextmanager
async def running(command: Sequence[str], port: int, env: Mapping[str, str]) -> AsyncIterator[None]:
    """A real server as a process that listens on a port."""
    process = await asyncio.create_subprocess_exec(
        *command,
        env={**os.environ, **env},
        stdout=asyncio.subprocess.DEVNULL,
        stderr=asyncio.subprocess.DEVNULL,
    )
    try:
        async with asyncio.timeout(60):
            while True:
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


def package(slug: str, command: Sequence[str], tool: str, **env: str) -> dict[str, Any]:
    return {
        "slug": slug,
        "name": slug,
        "type": "mcp_stdio",
        "config": {
            "command": command[0],
            "args": list(command[1:]),
            "tool_name": tool,
            "env": env,
        },
    }


@pytest.mark.timeout(600)
async def test_real_servers_behind_one_agent(tenants: Tenants, tmp_path: Path):
    """Servers of five makers, over every transport, list and call beside a plugin's tool."""
    everything = npm_server("@modelcontextprotocol/server-everything")
    files = npm_server("@modelcontextprotocol/server-filesystem")
    memory = npm_server("@modelcontextprotocol/server-memory")
    python = python_of("mcp-server-time", "mcp-server-git")
    fast = python_of("fastmcp>=4")
    http, sse, quick = free_port(), free_port(), free_port()
    (tmp_path / "a.txt").write_text("hello")
    os.system(f"git -C {tmp_path} init -q")  # noqa: ASYNC221, S605 - a folder of this test
    crib, user = tenants.crib, tenants.user_a
    for one in (
        package("list_files", [*files, str(tmp_path)], "list_directory"),
        package("graph", memory, "read_graph"),
        package("clock", [python, "-m", "mcp_server_time"], "get_current_time"),
        package("repository", [python, "-m", "mcp_server_git"], "git_status"),
        package("say_again", [*everything, "stdio"], "echo"),
    ):
        await crib.desk.packages.install(crib.operator, one)
    async with (
        running([*everything, "streamableHttp"], http, {"PORT": str(http)}),
        running([*everything, "sse"], sse, {"PORT": str(sse)}),
        running([fast, "-c", FAST, str(quick)], quick, {}),
    ):
        over_http = await server_row(crib, "all_http", f"http://127.0.0.1:{http}/mcp")
        fast_row = await server_row(crib, "fast", f"http://127.0.0.1:{quick}/mcp")
        await crib.desk.packages.install(
            crib.operator,
            {
                "slug": "say_by_sse",
                "name": "Over SSE",
                "type": "mcp_sse",
                "config": {"endpoint": f"http://127.0.0.1:{sse}/sse", "tool_name": "echo"},
            },
        )
        packages = ("list_files", "graph", "clock", "repository", "say_again", "say_by_sse")
        agent = await agent_of(
            tenants, tenants.root, over_http, fast_row, *(f"installed__{one}" for one in packages)
        )
        await listed(user, agent, "echo", "multiply", *packages)
        got = {
            "echo": await call(user, agent, "echo", message="hi"),
            "multiply": await call(user, agent, "multiply", a=6, b=7),
            "list_files": await call(user, agent, "list_files", path=str(tmp_path)),
            "graph": await call(user, agent, "graph"),
            "clock": await call(user, agent, "clock", timezone="Europe/Oslo"),
            "repository": await call(user, agent, "repository", repo_path=str(tmp_path)),
            "say_again": await call(user, agent, "say_again", message="stdio"),
            "say_by_sse": await call(user, agent, "say_by_sse", message="sse"),
            "get-tiny-image": await call(user, agent, "get-tiny-image"),
        }
    assert {name: one["success"] for name, one in got.items()} == dict.fromkeys(got, True)
    words = {name: one["text"] for name, one in got.items()}
    assert "hi" in words["echo"]
    assert "42" in words["multiply"]
    assert "a.txt" in words["list_files"]
    assert "Europe/Oslo" in words["clock"]
    assert "stdio" in words["say_again"]
    assert "sse" in words["say_by_sse"]
    assert "image" in {part["type"] for part in got["get-tiny-image"]["content"]}


async def test_bad_servers_do_not_delay_good_ones(tenants: Tenants):
    """With one dead, one hung, one lying and one flooding, the healthy one is listed at once."""
    crib, user = tenants.crib, tenants.user_a
    async with (
        HttpMcp("session") as good,
        HttpMcp("session") as hung,
        HttpMcp("session") as lying,
        HttpMcp("session") as flooding,
    ):
        hung.hang = True
        lying.html = True
        flooding.pages = {
            "": {"tools": [tool_of("flood")], "nextCursor": "same"},
            "same": {"tools": [tool_of("flood")], "nextCursor": "same"},
        }
        await crib.platform.servers.prepare()
        rows = [
            await server_row(crib, "good", good.url),
            await server_row(crib, "dead", "http://127.0.0.1:9/mcp"),
            await server_row(crib, "hung", hung.url),
            await server_row(crib, "lying", lying.url),
            await server_row(crib, "flooding", flooding.url),
        ]
        agent = await agent_of(tenants, tenants.root, *rows)
        loop = asyncio.get_running_loop()
        began = loop.time()
        answer = await tools_of(user, agent)
        assert loop.time() - began < 1.0
        assert [tool["name"] for tool in answer["tools"]] == ["echo", "flood"]
        reasons = {skip["ref"]: skip["reason"] for skip in answer["skipped"]}
        assert "could not be reached" in reasons[f"mcp:{rows[1]}"]
        assert "being connected" in reasons[f"mcp:{rows[2]}"]
        assert "text/html" in reasons[f"mcp:{rows[3]}"]
        assert "repeats a cursor" in reasons[f"mcp:{rows[4]}"]
        assert (await call(user, agent, "echo", a=1))["success"] is True


async def test_recovered_server_is_listed_again(tenants: Tenants):
    """A server that comes back is there again without anybody doing anything."""
    crib, user = tenants.crib, tenants.user_a
    async with HttpMcp("session") as server:
        pass
    agent = await agent_of(tenants, tenants.root, await server_row(crib, "back", server.url))
    assert (await tools_of(user, agent))["tools"] == []
    async with HttpMcp("session", port=server.port):
        async with asyncio.timeout(20):
            await listed(user, agent, "echo")


async def test_hosted_form_stands_beside_the_tools(tenants: Tenants):
    """The delegation names the server and shows neither settings nor headers."""
    crib, user = tenants.crib, tenants.user_a
    await user.api.put(
        "/api/v1/settings/MY_TOKEN", json={"value": "tok-123456", "user_id": user.id}
    )
    async with HttpMcp("session") as server:
        row = await server_row(
            crib, "mine", server.url, headers={"Authorization": "Bearer ${MY_TOKEN}"}
        )
        agent = await agent_of(tenants, tenants.root, row)
        answer = await tools_of(user, agent)
        assert answer["delegations"] == [
            {
                "type": "mcp",
                "server_label": "mine",
                "server_url": server.url,
                "require_approval": "never",
                "headers": {"Authorization": "***"},
                "ref": f"mcp:{row}",
            }
        ]
        assert {h["Authorization"] for _, _, h in server.asked} == {"Bearer tok-123456"}
        server.answers["echo"] = _leak
        assert "tok-123456" not in str(await call(user, agent, "echo"))
        other = await tools_of(tenants.admin_a, agent)
        assert (other["tools"], other["delegations"]) == ([], [])
        assert "MY_TOKEN" in other["skipped"][0]["reason"]


async def _leak(_: Mapping[str, Any]) -> Mapping[str, Any]:
    return text("your token is tok-123456", structuredContent={"t": "tok-123456"})


@pytest.mark.parametrize("policy", [None, "always", {"never": {"tool_names": ["echo"]}}])
async def test_approval_keeps_calls_back(tenants: Tenants, policy: object):
    """Tools that want an approval are listed, and a call says that it is needed."""
    async with HttpMcp("session") as server:
        more = {"require_approval": policy}
        row = await server_row(tenants.crib, "careful", server.url, **more)
        agent = await agent_of(tenants, tenants.root, row)
        assert [t["name"] for t in (await tools_of(tenants.user_a, agent))["tools"]] == ["echo"]
        answer = await call(tenants.user_a, agent, "echo")
        assert answer["error"]["code"] == "approval_needed"
        assert server.count("tools/call") == 0


@pytest.mark.parametrize(
    ("allowed", "names"),
    [(["b"], ["b"]), ([], []), ("a", ["a"]), ({"0": "b", "1": "a"}, ["b", "a"]), (5, [])],
)
async def test_allowed_tools_choose(tenants: Tenants, allowed: object, names: list[str]):
    """An allow-list is kept to in every form it is read in; an empty one allows nothing."""
    async with HttpMcp("session") as server:
        server.tools = [tool_of("a"), tool_of("b"), tool_of("c")]
        row = await server_row(tenants.crib, "some", server.url, allowed_tools=allowed)
        agent = await agent_of(tenants, tenants.root, row)
        answer = await tools_of(tenants.user_a, agent)
        assert [tool["name"] for tool in answer["tools"]] == names


async def test_names_do_not_depend_on_who_comes_first(tenants: Tenants):
    """A name once given stays, when its server is away, changes or comes back later."""
    crib, user = tenants.crib, tenants.user_a
    async with HttpMcp("session") as one, HttpMcp("session") as two:
        first = await server_row(crib, "one", one.url)
        second = await server_row(crib, "two", two.url)
        agent = await agent_of(tenants, tenants.root, second)
        await listed(user, agent, "echo")
        await crib.desk.agents.set_capabilities(tenants.root.caller, agent, [first, second])
        answer = await listed(user, agent, "one__echo")
        refs = {tool["name"]: tool["ref"] for tool in answer["tools"]}
        assert refs == {"one__echo": "mcp:one/echo", "echo": "mcp:two/echo"}
        await crib.desk.agents.set_capabilities(tenants.root.caller, agent, [first])
        answer = await tools_of(user, agent)
        assert [tool["name"] for tool in answer["tools"]] == ["one__echo"]


async def test_package_of_a_legacy_server(tenants: Tenants):
    """A package of plain JSON-RPC is listed by its slug and called by its tool's name."""
    user = tenants.user_a
    async with HttpMcp("plain") as server:
        put = await tenants.root.api.put(
            "/admin/secrets/MCP_SERVER_URL", json={"value": server.url}
        )
        assert put.status_code == 204
        document = {
            "slug": "mcp_knowledge_search",
            "name": "MCP Knowledge Search",
            "type": "mcp_server",
            "config": {
                "endpoint": "{{MCP_SERVER_URL}}",
                "tool_name": "search",
                "input_schema": {
                    "type": "object",
                    "properties": {"query": {"type": "string"}},
                    "required": ["query"],
                },
            },
        }
        installed: httpx.Response = await tenants.root.api.post(
            "/admin/tools/install", json=document
        )
        assert installed.status_code == 201, installed.text
        agent = await agent_of(tenants, tenants.root, "installed__mcp_knowledge_search")
        answer = await call(user, agent, "mcp_knowledge_search", query="oslo")
        assert (answer["success"], answer["text"]) == (True, '{"query": "oslo"}')
        assert server.asked[-1][1]["name"] == "search"
        bad = await call(user, agent, "mcp_knowledge_search", query="oslo", more=1)
        assert bad["error"]["code"] == "invalid_arguments"


async def test_servers_are_shown_and_looked_at_anew(tenants: Tenants):
    """Everybody sees the servers that they may use, each with its state; a look is taken now."""
    crib = tenants.crib
    async with HttpMcp("session") as good, HttpMcp("session") as private:
        row = await server_row(crib, "good", good.url)
        dead = await server_row(crib, "dead", "http://127.0.0.1:9/mcp")
        own = await tenants.user_a.api.post(
            "/api/super-admin/capabilities",
            json={
                "name": "own",
                "code": "own",
                "type": "mcp",
                "access_type": "private",
                "options": {"server_label": "own", "server_url": private.url},
            },
        )
        assert own.status_code == 201, own.text
        mine = f"mcp:{own.json()['id']}"
        await crib.platform.servers.prepare()
        page = (await tenants.user_a.api.get("/api/v1/mcp/servers")).json()
        assert {item["ref"]: (item["status"], item["tools"]) for item in page["items"]} == {
            f"mcp:{row}": ("connected", ["echo"]),
            f"mcp:{dead}": ("failed", []),
            mine: ("connected", ["echo"]),
        }
        assert page["items"][1]["error"]["code"] == "unreachable"
        assert page["items"][0]["checked_at"] is not None
        good.tools.append(tool_of("more"))
        again = await tenants.user_a.api.post(f"/api/v1/mcp/servers/mcp:{row}/refresh")
        assert again.json()["tools"] == ["echo", "more"]
        for ref in (mine, "mcp:999999", "other:1"):
            hidden = await tenants.user_b.api.post(f"/api/v1/mcp/servers/{ref}/refresh")
            assert hidden.status_code == 404
        refs = [
            item["ref"]
            for item in (await tenants.user_b.api.get("/api/v1/mcp/servers")).json()["items"]
        ]
        assert refs == [f"mcp:{row}", f"mcp:{dead}"]
