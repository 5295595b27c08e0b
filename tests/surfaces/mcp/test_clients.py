"""The official SDK's client at the gateway, in both eras."""

from __future__ import annotations

import pytest
from mcp.shared.exceptions import MCPError

from tests.surfaces.mcp.conftest import Door

pytestmark = pytest.mark.parametrize("era", ["modern", "session"])


async def test_lists_and_calls(door: Door, era: str) -> None:
    """A client sees the agent's tools and what they give."""
    agent = await door.tenants.agent(door.tenants.admin_a, door.tenants.a, "greet", "notes")
    async with door.client(door.tenants.user_a, agent.id, era) as client:
        listed = await client.list_tools()
        said = await client.call_tool("hello", {"name": "Ada"})
    assert [tool.name for tool in listed.tools] == ["hello", "add_note", "lose_note"]
    assert (said.is_error, [block.text for block in said.content]) == (False, ["hello Ada"])


async def test_a_failed_tool_is_a_result(door: Door, era: str) -> None:
    """What a tool fails of is text for the model, with a code."""
    agent = await door.tenants.agent(door.tenants.admin_a, door.tenants.a, "notes")
    async with door.client(door.tenants.user_a, agent.id, era) as client:
        result = await client.call_tool("lose_note", {})
        wrong = await client.call_tool("add_note", {"text": []})
    assert result.is_error
    assert "the note is gone" in result.content[0].text
    assert result.meta["toolcrib/error"]["code"] == "tool_error"
    assert wrong.meta["toolcrib/error"]["code"] == "invalid_arguments"


async def test_an_unknown_tool_is_an_error(door: Door, era: str) -> None:
    agent = await door.tenants.agent(door.tenants.admin_a, door.tenants.a, "greet")
    async with door.client(door.tenants.user_a, agent.id, era) as client:
        with pytest.raises(MCPError) as raised:
            await client.call_tool("add_note", {"text": "x"})
    assert raised.value.code == -32602
