"""A kit class and a LangChain tool that do the same give the same answer, whoever asks.

Both are registered under codes of one agent; LangChain, REST, a chat's direct call and the MCP
gateway are asked in turn, and what differs may only be the name. Python without an agent is asked
through a ToolRegistry.
"""

from __future__ import annotations

import json
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from typing import Any, Literal

import httpx2
import pytest
from langchain_core.tools import BaseTool, ToolException, tool
from mcp.client import Client
from mcp.client.streamable_http import streamable_http_client
from pydantic import BaseModel, Field

from tests.support.crib import Crib, Person, open_crib
from tests.support.listening import listening
from toolcrib.kit import (
    Tool,
    ToolRegistry,
    ToolResult,
    method_metadata,
    openapi_schema,
    param,
    tool_metadata,
)
from toolcrib.langchain import get_tools_from_capabilities
from toolcrib.plugin.registration import Registry
from toolcrib.settings import Settings

COUNTED = {"shelf": "steel", "parts": [1, 2], "note": "für Ada"}
CASES: list[tuple[str, dict[str, Any]]] = [
    ("find", {"number": "7"}),
    ("find", {"number": "7", "shelf": "wood"}),
    ("find", {}),
    ("find", {"number": 7}),
    ("find", {"number": "7", "shelf": "glass"}),
    ("count", {}),
    ("count", {"number": "7"}),
    ("lose", {}),
    ("break", {}),
]


class Find(BaseModel):
    number: str = Field(description="Its number")
    shelf: Literal["steel", "wood"] = Field(default="steel", description="Which shelf")


@tool("lc_find", args_schema=Find)
async def lc_find(number: str, shelf: str) -> str:
    """Find a part."""
    return f"{number} lies on {shelf}"


@tool("lc_count")
async def lc_count() -> dict[str, Any]:
    """Count parts."""
    return COUNTED


@tool("lc_lose")
async def lc_lose() -> str:
    """Lose a part."""
    raise ToolException("it is gone")


@tool("lc_break")
async def lc_break() -> str:
    """Break down."""
    raise ValueError("broken")


lc_lose.handle_tool_error = True


@tool_metadata("Shelves", "Parts on shelves", weight=10, visible=True)
class ShelfTool(Tool):
    @openapi_schema(name="kit_find", description="Find a part.")
    @param("number", "string", "Its number", required=True)
    @param("shelf", "string", "Which shelf", enum=["steel", "wood"], default="steel")
    async def kit_find(self, number: str, shelf: str = "steel") -> ToolResult:
        return self.success_response(f"{number} lies on {shelf}")

    @openapi_schema(name="kit_count", description="Count parts.")
    async def kit_count(self) -> ToolResult:
        return self.success_response(COUNTED)

    @openapi_schema(name="kit_lose", description="Lose a part.")
    @method_metadata("Lose", "Loses a part", is_core=True, visible=False)
    async def kit_lose(self) -> ToolResult:
        return self.fail_response("it is gone")

    @openapi_schema(name="kit_break", description="Break down.")
    def kit_break(self) -> ToolResult:
        raise ValueError("broken")


@dataclass(frozen=True)
class Workshop:
    crib: Crib
    user: Person
    agent: int
    config: dict[str, Any]


@pytest.fixture
async def workshop(settings: Settings) -> AsyncGenerator[Workshop]:
    registry = Registry()
    registry.register_tools("plain", [lc_find, lc_count, lc_lose, lc_break], name="Plain")
    registry.register_tools("shelves", [ShelfTool], name="Shelves")
    async with open_crib(settings, registry=registry) as crib:
        group = await crib.desk.groups.create(crib.operator, name="Workshop")
        for code in ("plain", "shelves"):
            await crib.desk.capabilities.create_from_registered(
                crib.operator, code=code, group_id=group.id
            )
        user = await crib.person("ada", "admin", group.id)
        body = {"name": "a", "group_id": group.id, "capabilities": ["plain", "shelves"]}
        made = await user.api.post("/api/v1/agents", json=body)
        assert made.status_code == 201, made.text
        configurable = {"logged_user_id": user.id, "group_id": group.id}
        yield Workshop(crib, user, made.json()["id"], {"configurable": configurable})


def same(answer: dict[str, Any]) -> dict[str, Any]:
    """An answer of REST without what two calls never share, and without the tool's name."""
    kept = {key: value for key, value in answer.items() if key not in {"call_id", "duration_ms"}}
    text = str(kept["text"]).replace("lc_", "").replace("kit_", "")
    error = kept["error"] and {**kept["error"], "message": text}
    content = [{**part, "text": text} for part in kept["content"]]
    return {**kept, "text": text, "error": error, "content": content}


@pytest.mark.parametrize(("name", "arguments"), CASES)
async def test_over_rest(workshop: Workshop, name: str, arguments: dict[str, Any]) -> None:
    """Success, text, structured value and error code are the same."""
    answers: list[dict[str, Any]] = []
    for kind in ("lc", "kit"):
        path = f"/api/v1/agents/{workshop.agent}/tools/{kind}_{name}/call"
        answer = await workshop.user.api.post(path, json={"arguments": arguments})
        assert answer.status_code == 200, answer.text
        answers.append(same(answer.json()))
    assert answers[1] == answers[0]


@pytest.mark.parametrize(("name", "arguments"), CASES)
async def test_in_langchain(workshop: Workshop, name: str, arguments: dict[str, Any]) -> None:
    """The message that a model reads, and its status, are the same."""
    tools = await langchain_tools(workshop)
    messages: list[tuple[str, str]] = []
    for kind in ("lc", "kit"):
        one = f"{kind}_{name}"
        request = {"name": one, "args": arguments, "id": "1", "type": "tool_call"}
        message = await tools[one].ainvoke(request, workshop.config)
        text = str(message.text).replace("lc_", "").replace("kit_", "")
        messages.append((message.status, text))
    assert messages[1] == messages[0]


@pytest.mark.parametrize(("name", "arguments"), CASES[:2] + CASES[5:6] + CASES[7:8])
async def test_in_python(workshop: Workshop, name: str, arguments: dict[str, Any]) -> None:
    """A ToolRegistry's function says what the platform's call says."""
    registry = ToolRegistry()
    registry.register_tool(ShelfTool)
    alone = await registry.get_available_functions()[f"kit_{name}"](**arguments)
    platform, caller = workshop.crib.platform, workshop.user.caller
    called = await platform.invoke(workshop.agent, f"lc_{name}", arguments, caller)
    assert (alone.success, alone.output) == (called.success, called.output.text)


@pytest.mark.parametrize("name", ["find", "count", "lose"])
async def test_in_a_chat(workshop: Workshop, name: str) -> None:
    """A direct call is answered with the same words."""
    api = workshop.user.api
    chat = (await api.post("/api/v1/chats", json={"agent_id": workshop.agent})).json()
    replies: list[str] = []
    for kind in ("lc", "kit"):
        content = f'@tool:{kind}_{name}({{"number": "7"}})'
        answer = await api.post(f"/api/v1/chats/{chat['id']}/messages", json={"content": content})
        assert answer.is_success, answer.text
        replies.append(answer.json()["content"].replace("lc_", "").replace("kit_", ""))
    assert replies[1] == replies[0]


@pytest.mark.parametrize("era", ["2026-07-28", "legacy"])
async def test_over_the_gateway(workshop: Workshop, era: str) -> None:
    """An MCP client gets the same content, structured value and error mark, in both eras."""
    async with listening(workshop.crib.app) as url, _client(workshop, url, era) as client:
        listed = {tool.name: tool for tool in (await client.list_tools()).tools}
        for name, arguments in CASES:
            results: list[dict[str, Any]] = []
            for kind in ("lc", "kit"):
                one = f"{kind}_{name}"
                assert one in listed
                result = await client.call_tool(one, arguments)
                told = result.model_dump_json(by_alias=True, exclude={"meta"})
                results.append(json.loads(told.replace("lc_", "").replace("kit_", "")))
            assert results[1] == results[0], (name, arguments)


async def test_the_listing(workshop: Workshop) -> None:
    """Each method is a tool of its own, with the schema that its decorators gave."""
    answer = await workshop.user.api.get(f"/api/v1/agents/{workshop.agent}/tools")
    listed = {row["name"]: row for row in answer.json()["tools"]}
    assert [name for name in listed if name.startswith("kit_")] == [
        "kit_find",
        "kit_count",
        "kit_lose",
        "kit_break",
    ]
    found = listed["kit_find"]
    assert (found["description"], found["ref"]) == ("Find a part.", "native:shelves/kit_find")
    assert found["input_schema"] == {
        "type": "object",
        "properties": {
            "number": {"type": "string", "description": "Its number"},
            "shelf": {
                "type": "string",
                "description": "Which shelf",
                "enum": ["steel", "wood"],
                "default": "steel",
            },
        },
        "required": ["number"],
    }
    assert answer.json()["skipped"] == []


@asynccontextmanager
async def _client(workshop: Workshop, url: str, era: str) -> AsyncGenerator[Client]:
    headers = {"Authorization": f"Bearer {workshop.user.token}"}
    async with httpx2.AsyncClient(headers=headers, timeout=30) as http:
        place = f"{url}/mcp/agents/{workshop.agent}"
        transport = streamable_http_client(place, http_client=http)
        async with Client(transport, mode=era) as client:
            yield client


async def langchain_tools(workshop: Workshop) -> dict[str, BaseTool]:
    rows = ["plain", "shelves"]
    tools, _ = await get_tools_from_capabilities(
        rows, workshop.config, platform=workshop.crib.platform
    )
    return {one.name: one for one in tools}
