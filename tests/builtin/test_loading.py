"""Loading in a chat: guides of what was granted, tools of servers through the same grants."""

from __future__ import annotations

import json
from collections.abc import AsyncGenerator
from typing import Any

import pytest

from tests.support.chatting import Office, Talk, open_office
from tests.support.mcp_http import HttpMcp, text, tool_of
from toolcrib.catalog.capabilities import CapabilityDraft
from toolcrib.settings import Settings


async def _echo(arguments: Any) -> dict[str, Any]:
    return text(f"heard {arguments.get('word')}")


async def _picture(arguments: Any) -> dict[str, Any]:
    image = {"type": "image", "data": "iVBORw==", "mimeType": "image/png"}
    return {"content": [{"type": "text", "text": "a cat"}, image]}


@pytest.fixture
async def server() -> AsyncGenerator[HttpMcp]:
    async with HttpMcp() as opened:
        opened.tools = [tool_of("MAIL_SEND", description="Sends"), tool_of("MAIL_DRAW")]
        opened.answers["MAIL_SEND"] = _echo
        opened.answers["MAIL_DRAW"] = _picture
        yield opened


@pytest.fixture
async def office(settings: Settings, server: HttpMcp) -> AsyncGenerator[Office]:
    chosen = settings.model_copy(update={"egress_allow": (server.place,)})
    async with open_office(chosen, ["core", "memory"]) as opened:
        options = {"server_label": "mail", "server_url": server.url, "require_approval": "never"}
        row = await opened.crib.desk.capabilities.create(
            opened.crib.operator,
            CapabilityDraft(
                name="Mail", code="mail", type="mcp", options=options, access_type="system"
            ),
        )
        agent = await opened.crib.desk.agents.get(opened.crib.operator, opened.agent)
        held = [*agent.capability_ids, row.id]
        await opened.crib.desk.agents.set_capabilities(opened.crib.operator, opened.agent, held)
        yield opened


@pytest.fixture
async def talk(office: Office) -> Talk:
    talk = await office.talk(await office.person("ada"))
    # A list waits for nobody's server, a call does: afterwards the tools are there for this user.
    answer = await talk.call("MAIL_SEND", word="first")
    assert answer["text"] == "heard first"
    return talk


async def test_guides_of_what_was_granted(office: Office, talk: Talk) -> None:
    """A list or its JSON text; what the agent may not use is left out, and the chat remembers."""
    loaded = await talk.ok("initialize_tools", tool_names=["memory_tool", "vapi_voice_tool"])
    assert loaded["activated_tools"] == ["memory_tool"]
    assert loaded["message"] == "Loaded 1 of 2 tools: memory_tool"
    assert loaded["guides"].startswith("## Memory Usage Guide\n\nRemember what will still matter")
    assert loaded["_internal"] is True
    again = await talk.ok("initialize_tools", tool_names='["task_list_tool", "memory_tool"]')
    assert again["activated_tools"] == ["task_list_tool", "memory_tool"]
    assert "\n\n---\n\n## Memory Usage Guide" in again["guides"]
    chat = await office.crib.platform.storage.chats.find(talk.chat["id"])
    assert chat is not None
    assert list(chat.dynamic_tools) == ["memory_tool", "task_list_tool"]


async def test_loading_grants_nothing(talk: Talk) -> None:
    """A group that the agent was not given is refused when it is asked for alone."""
    code, words = await talk.failed("initialize_tools", tool_names=["vapi_voice_tool"])
    assert (code, words) == (
        "tool_error",
        "This agent was not given vapi_voice_tool: ask for a grant.",
    )
    answer = await talk.who.api.post(
        f"/api/v1/agents/{talk.agent}/tools/list_calls/call", json={"arguments": {}}
    )
    assert answer.status_code == 404


async def test_one_unknown_name_fails_the_whole_call(talk: Talk) -> None:
    """And lists the names that there are."""
    _, words = await talk.failed("initialize_tools", tool_names=["memory_tool", "fly_tool"])
    assert words.startswith("Unknown tools: fly_tool. Available tools: ")
    assert "memory_tool" in words


async def test_discovering(talk: Talk) -> None:
    """Tools of servers with their schemas; a filter is a part of a name, or whole names."""
    found = await talk.ok("discover_mcp_tools", filter="mail_s")
    assert list(found["available_tools"]) == ["MAIL_SEND"]
    schema = found["available_tools"]["MAIL_SEND"]
    assert (schema["type"], schema["function"]["description"]) == ("function", "Sends")
    assert (found["toolkits"], found["filter_applied"]) == (["mail"], "mail_s")
    assert (await talk.ok("discover_mcp_tools"))["total_count"] == 2
    exact = await talk.ok("discover_mcp_tools", filter="MAIL_DRAW, ask")
    assert list(exact["available_tools"]) == ["MAIL_DRAW"]


async def test_executing(office: Office, talk: Talk) -> None:
    """An object or its JSON text; the inner call is in the record like any other."""
    for args in ({"word": "boat"}, json.dumps({"word": "boat"})):
        answer = await talk.call("execute_mcp_tool", tool_name="MAIL_SEND", args=args)
        assert (answer["success"], answer["text"]) == (True, "heard boat")
    drawn = await talk.call("execute_mcp_tool", tool_name="MAIL_DRAW")
    assert [part["type"] for part in drawn["content"]] == ["text", "image"]
    calls = (await talk.who.api.get("/api/v1/calls", params={"tool": "MAIL_SEND"})).json()["items"]
    assert [call["arguments"] for call in calls[:2]] == [{"word": "boat"}] * 2


async def test_what_is_not_executed(talk: Talk) -> None:
    """A native function is called directly; an unknown one is unknown; arguments are an object."""
    for arguments, words in (
        ({"tool_name": "ask", "args": {"text": "?"}}, "call it directly"),
        ({"tool_name": "MAIL_LOSE"}, "no tool 'MAIL_LOSE'"),
        ({"tool_name": "MAIL_SEND", "args": "[1]"}, "args must be a JSON object."),
    ):
        _, message = await talk.failed("execute_mcp_tool", **arguments)
        assert words in message
