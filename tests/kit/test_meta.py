"""What a model asks of the kit: loading tools, discovering and calling those of MCP servers."""

from __future__ import annotations

import json
from typing import Any

import pytest

from tests.kit.servers import Servers, mail, send
from toolcrib.kit import MCPRegistry, ToolRegistry, ToolResult
from toolcrib.kit.mcp_loader import MCPJITLoader
from toolcrib.kit.meta import discover_mcp_tools, execute_mcp_tool, initialize_tools

MAIL = "https://mail.example"


@pytest.fixture
def registry() -> ToolRegistry:
    return ToolRegistry(mcp_registry=MCPRegistry())


@pytest.fixture
def loader() -> MCPJITLoader:
    servers = Servers({MAIL: {"SEND": send, "turn": send}})
    config = {"custom_mcp": [mail(name="Mail")], "account_id": "acc"}
    return MCPJITLoader(config, registry=MCPRegistry(connector=servers))


@pytest.mark.usefixtures("workshop")
@pytest.mark.parametrize(
    "names",
    [["web_search_tool", "lathe_tool"], '["web_search_tool", "lathe_tool"]'],
)
async def test_loading_tools(registry: ToolRegistry, names: Any) -> None:
    """A list, or JSON in a text; the answer holds the guides."""
    answer = await initialize_tools(names, registry)
    assert answer.success is True
    assert json.loads(answer.output) == {
        "status": "success",
        "message": "Loaded 2 of 2 tools: web_search_tool, lathe_tool",
        "guides": "## Web Search Usage Guide\n\nAsk one question at a time."
        "\n\n---\n\n## lathe_tool\n\nTurn wood",
        "activated_tools": ["web_search_tool", "lathe_tool"],
        "_internal": True,
    }
    assert list(registry.tools) == ["web_search", "scrape_webpage", "turn"]


@pytest.mark.usefixtures("workshop")
async def test_one_unknown_name_fails_everything(registry: ToolRegistry) -> None:
    """With the names that there are; nothing was loaded."""
    known = (
        "browser_tool, lathe_tool, message_tool, sb_files_tool, vapi_voice_tool, web_search_tool"
    )
    assert await initialize_tools(["lathe_tool", "fly_tool"], registry) == ToolResult(
        success=False, output=f"Unknown tools: fly_tool. Available tools: {known}."
    )
    assert registry.tools == {}
    assert await initialize_tools("[]", registry) == ToolResult(
        success=False, output=f"No tools were named. Available tools: {known}."
    )


@pytest.mark.usefixtures("workshop")
async def test_what_could_not_be_loaded_is_left_out(registry: ToolRegistry) -> None:
    """As long as something could."""
    answer = await initialize_tools("vapi_voice_tool,lathe_tool", registry)
    assert json.loads(answer.output)["activated_tools"] == ["lathe_tool"]
    alone = await initialize_tools("vapi_voice_tool", registry)
    assert alone.success is False
    assert alone.output.startswith("vapi_voice_tool: The constructor needs thread_id")


@pytest.mark.usefixtures("workshop")
async def test_dependencies_are_loaded_too(registry: ToolRegistry) -> None:
    """They are registered, and not listed as what was asked for."""
    answer = await initialize_tools(["browser_tool"], registry)
    assert json.loads(answer.output)["activated_tools"] == ["browser_tool"]
    assert "create_file" in registry.tools


async def test_discovering(loader: MCPJITLoader) -> None:
    """The thread's servers, with schemas; without a loader there is nothing."""
    found = json.loads((await discover_mcp_tools("send", loader)).output)
    assert (list(found["available_tools"]), found["total_count"]) == (["SEND"], 1)
    assert found["toolkits"] == ["custom_http_mail"]
    nothing = json.loads((await discover_mcp_tools("send", None)).output)
    assert nothing == {
        "available_tools": {},
        "total_count": 0,
        "toolkits": [],
        "filter_applied": "send",
    }
    assert loader.registry.get_tools() == []


@pytest.mark.parametrize("args", [{"to": "Ada"}, '{"to": "Ada"}'])
async def test_calling(loader: MCPJITLoader, args: Any) -> None:
    """Arguments may be JSON in a text."""
    answer = await execute_mcp_tool("SEND", args, loader)
    assert answer == ToolResult(success=True, output="sent to Ada")


@pytest.mark.parametrize("args", ["{", "[1]", "3", "[" * 100_000])
async def test_arguments_that_are_no_object(loader: MCPJITLoader, args: str) -> None:
    """Refused in one sentence."""
    answer = await execute_mcp_tool("SEND", args, loader)
    assert answer == ToolResult(success=False, output="args must be a JSON object.")


@pytest.mark.usefixtures("workshop")
async def test_a_native_function_is_refused(loader: MCPJITLoader) -> None:
    """Even where a server has a tool of that name."""
    assert await execute_mcp_tool("turn", {}, loader) == ToolResult(
        success=False,
        output="'turn' is a native function of lathe_tool, not an MCP tool: call it directly.",
    )


async def test_another_threads_tools_are_not_there(loader: MCPJITLoader) -> None:
    """Whatever the process's registry knows."""
    other = MCPJITLoader({}, registry=loader.registry)
    gone = ToolResult(success=False, output="MCP tool 'SEND' is not available in this thread")
    assert await execute_mcp_tool("SEND", {"to": "x"}, other) == gone
    assert await execute_mcp_tool("SEND", {"to": "x"}, None) == gone
