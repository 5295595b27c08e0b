"""Long lists come in pages; what is missing is named."""

from __future__ import annotations

import base64

import pytest

from tests.support.crib import open_crib
from tests.support.listening import listening
from tests.support.mcp_http import HttpMcp, tool_of
from tests.support.tenants import make_tenants
from tests.surfaces.mcp.conftest import Door
from tests.surfaces.mcp.requests import modern
from toolcrib.catalog.capabilities import CapabilityDraft
from toolcrib.grants.agents import AgentDraft
from toolcrib.settings import Settings
from toolcrib.surfaces.mcp.gateway import Gateway


async def server_row(door: Door, code: str, url: str) -> int:
    options = {"server_label": code, "server_url": url, "require_approval": "never"}
    draft = CapabilityDraft(name=code, code=code, type="mcp", options=options, access_type="system")
    return (await door.crib.desk.capabilities.create(door.crib.operator, draft)).id


async def agent_with(door: Door, *rows: int) -> int:
    draft = AgentDraft(name=f"agent {rows}", creator_id=1, group_id=door.tenants.a)
    made = await door.crib.desk.agents.create(door.crib.operator, draft, capabilities=list(rows))
    return made.id


@pytest.mark.parametrize("era", ["modern", "session"])
async def test_pages(settings: Settings, era: str) -> None:
    """All tools, each once, in their order; the SDK's client follows the cursors."""
    allowed = settings.model_copy(update={"egress_allow": ("127.0.0.0/8",)})
    async with open_crib(allowed) as crib, HttpMcp() as server:
        server.tools = [tool_of(f"t{number}") for number in range(7)]
        tenants = await make_tenants(crib)
        crib.app.state.gateway = Gateway(crib.platform, page_size=3)
        async with listening(crib.app) as url:
            door = Door(crib=crib, tenants=tenants, url=url)
            agent = await agent_with(door, await server_row(door, "many", server.url))
            await door.settled(tenants.user_a, agent, "t6")
            names, cursors, cursor = [], 0, None
            async with door.client(tenants.user_a, agent, era) as client:
                while cursors == 0 or cursor is not None:
                    page = await client.list_tools(cursor=cursor)
                    names.append([tool.name for tool in page.tools])
                    cursors, cursor = cursors + 1, page.next_cursor
    assert names == [["t0", "t1", "t2"], ["t3", "t4", "t5"], ["t6"]]


@pytest.mark.parametrize(
    "cursor", ["", "nonsense", "!", base64.urlsafe_b64encode(b'["a",1]').decode(), "x" * 5000]
)
async def test_a_bad_cursor_is_an_error(door: Door, cursor: str) -> None:
    agent = (await door.tenants.agent(door.tenants.admin_a, door.tenants.a, "greet")).id
    async with door.http(door.tenants.user_a) as http:
        answer = await modern(http, door.place(agent), "tools/list", {"cursor": cursor})
    error = answer.json()["error"]
    assert (answer.status_code, error["code"], error["data"]["where"]) == (400, -32602, "cursor")


@pytest.mark.parametrize("era", ["modern", "session"])
async def test_servers_that_are_away_are_named(door: Door, era: str) -> None:
    """They hide no other, and the client reads why: when it comes, and with the list."""
    async with HttpMcp() as good, HttpMcp() as lying, HttpMcp() as hung:
        good.tools = [tool_of("works")]
        lying.html = True
        hung.hang = True
        rows = [
            await server_row(door, name, url)
            for name, url in (
                ("good", good.url),
                ("lying", lying.url),
                ("hung", hung.url),
                ("dead", "http://127.0.0.1:1/mcp"),
            )
        ]
        agent = await agent_with(door, *rows)
        await door.settled(door.tenants.user_a, agent, "works")
        async with door.client(door.tenants.user_a, agent, era) as client:
            listed = await client.list_tools()
            told = client.instructions
            called = await client.call_tool("works", {})
        if era == "modern":
            async with door.http(door.tenants.user_a) as http:
                found = await modern(http, door.place(agent), "server/discover", {})
            told = found.json()["result"]["instructions"]
    assert [tool.name for tool in listed.tools] == ["works"]
    assert not called.is_error
    missing = {skip["ref"]: skip["reason"] for skip in listed.meta["toolcrib/skipped"]}
    assert set(missing) == {f"mcp:{row}" for row in rows[1:]}
    assert all(missing.values())
    assert all(f"mcp:{row}" in told for row in rows[1:])


async def test_names_are_looked_up(door: Door) -> None:
    """Two servers have a tool of one name: each is reached under its own exposed name."""

    async def who(name: str) -> dict[str, object]:
        return {"content": [{"type": "text", "text": name}]}

    async with HttpMcp() as first, HttpMcp() as second:
        for server, name in ((first, "first"), (second, "second")):
            server.tools = [tool_of("same"), tool_of(f"a__b__{name}")]
            server.answers = {"same": lambda _, name=name: who(name)}
        rows = [
            await server_row(door, "one", first.url),
            await server_row(door, "two", second.url),
        ]
        agent = await agent_with(door, rows[0])
        await door.settled(door.tenants.user_a, agent, "same")
        await door.crib.desk.agents.set_capabilities(door.crib.operator, agent, rows)
        await door.settled(door.tenants.user_a, agent, "same", "two__same")
        async with door.client(door.tenants.user_a, agent, "modern") as client:
            names = [tool.name for tool in (await client.list_tools()).tools]
            said = {
                name: (await client.call_tool(name, {})).content[0].text
                for name in names
                if "same" in name
            }
            odd = await client.call_tool("a__b__second", {})
    assert names == ["same", "a__b__first", "two__same", "a__b__second"]
    assert said == {"same": "first", "two__same": "second"}
    assert not odd.is_error


@pytest.mark.parametrize("era", ["modern", "session"])
async def test_many_tools_are_offered_through_search(door: Door, era: str) -> None:
    """A client is shown two tools, and reaches all of them through these."""
    tenants = door.tenants
    agent = (await tenants.agent(tenants.admin_a, tenants.a, "greet", "notes")).id
    await door.crib.desk.agents.update(tenants.admin_a.caller, agent, {"tool_search": "on"})
    async with door.client(tenants.user_a, agent, era) as client:
        shown = [tool.name for tool in (await client.list_tools()).tools]
        found = await client.call_tool("search_tools", {"query": "say hello"})
        through = await client.call_tool(
            "call_tool", {"name": "hello", "arguments": {"name": "Ada"}}
        )
        by_name = await client.call_tool("add_note", {"text": "x"})
    assert shown == ["search_tools", "call_tool"]
    assert found.structured_content["tools"][0]["name"] == "hello"
    assert through.content[0].text == "hello Ada"
    assert by_name.content[0].text == "noted: x"
