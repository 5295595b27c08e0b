"""MCP servers behind an agent: real ones of every kind, bad ones beside good ones, and names."""

from __future__ import annotations

import asyncio
import sys
from collections.abc import AsyncIterator, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import httpx
import pytest

from tests.support.crib import Crib, Person, open_crib
from tests.support.mcp_http import HttpMcp, text, tool_of
from tests.support.tenants import Tenants, make_tenants
from toolcrib.catalog.capabilities import CapabilityDraft
from toolcrib.grants.agents import AgentDraft
from toolcrib.settings import Settings


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
        servers = crib.platform.servers
        servers.limits = replace(servers.limits, patience=2.0, opening=1000.0)
        await servers.prepare()
        rows = [
            await server_row(crib, "good", good.url),
            await server_row(crib, "dead", "http://127.0.0.1:9/mcp"),
            await server_row(crib, "hung", hung.url),
            await server_row(crib, "lying", lying.url),
            await server_row(crib, "flooding", flooding.url),
        ]
        agent = await agent_of(tenants, tenants.root, *rows)
        words = ["could not be reached", "being connected", "text/html", "repeats a cursor"]
        # The hung one never answers: whoever waited for it would not come to an end.
        while True:
            answer = await tools_of(user, agent)
            reasons = {skip["ref"]: skip["reason"] for skip in answer["skipped"]}
            said = [reasons.get(f"mcp:{row}", "") for row in rows[1:]]
            told = all(word in reason for word, reason in zip(words, said, strict=True))
            if told and len(answer["tools"]) == 2:
                break
        assert [tool["name"] for tool in answer["tools"]] == ["echo", "flood"]
        assert (await call(user, agent, "echo", a=1))["success"] is True


async def test_recovered_server_is_listed_again(tenants: Tenants):
    """A server that comes back is there again without anybody doing anything."""
    crib, user = tenants.crib, tenants.user_a
    async with HttpMcp("session") as server:
        pass
    agent = await agent_of(tenants, tenants.root, await server_row(crib, "back", server.url))
    assert (await tools_of(user, agent))["tools"] == []
    async with HttpMcp("session", port=server.port):
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
        agent = await agent_of(tenants, tenants.admin_a)
        bound = await crib.somebody(tenants.user_a.id, agent_id=agent)
        assert (await bound.api.get("/api/v1/mcp/servers")).json()["items"] == []
        asked = len(good.asked)
        looked = await bound.api.post(f"/api/v1/mcp/servers/mcp:{row}/refresh")
        assert (looked.status_code, len(good.asked)) == (404, asked)
