# pyright: basic
"""What Kortix's page on its tool registry shows, done here after `kortix.install()`."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from tests.kit.conftest import WORKSHOP
from tests.kit.servers import Servers, mail, send
from tests.support.packages import lay_out
from toolcrib.compat import kortix


@pytest.fixture(autouse=True)
def _installed() -> None:
    kortix.install()


@pytest.fixture
def catalogue(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Some of the native groups are installed."""
    from toolcrib.kit.catalogue import forget_classes

    announced = {
        "web_search_tool": "workshop:SandboxWebSearchTool",
        "browser_tool": "workshop:BrowserTool",
    }
    files = {"workshop.py": WORKSHOP}
    lay_out(tmp_path, "p-workshop", files=files, entry_points={"toolcrib.kit": announced})
    monkeypatch.syspath_prepend(tmp_path)
    forget_classes()


def example_tool() -> Any:
    """The page's class: metadata, two parameters, both kinds of response."""
    from core.agentpress.schema import openapi_schema, param
    from core.agentpress.tool import Tool, ToolResult, method_metadata, tool_metadata

    @tool_metadata(
        display_name="Sample",
        description="Shows how it is done",
        icon="wrench",
        is_core=False,
        visible=True,
    )
    class SampleTool(Tool):
        def __init__(self, api_key: str = "") -> None:
            super().__init__()
            self.api_key = api_key

        @openapi_schema(name="transform", description="Transform a text")
        @param("input_text", "string", "The text", required=True)
        @param("mode", "string", "How to do it", enum=["fast", "accurate"])
        async def transform(self, input_text: str, mode: str = "fast") -> ToolResult:
            """Transform the text."""
            try:
                return self.success_response(f"Done: {input_text.upper()} (mode: {mode})")
            except Exception as error:  # noqa: BLE001 - as the page has it
                return self.fail_response(f"Error: {error}")

        @method_metadata(display_name="Report", description="Structured data")
        @openapi_schema(name="report", description="Report")
        @param("first", "string", "One", required=True)
        @param("second", "integer", "Another", default=10)
        async def report(self, first: str, second: int = 10) -> ToolResult:
            return self.success_response({"status": "complete", "data": [first, second]})

    return SampleTool


def test_categories_are_lists_of_three() -> None:
    """Name, module path, class name."""
    from core.tools import tool_registry

    lists = ["CORE_TOOLS", "SANDBOX_TOOLS", "SEARCH_TOOLS", "UTILITY_TOOLS", "AGENT_BUILDER_TOOLS"]
    for name in lists:
        for tool_name, module, kind in getattr(tool_registry, name):
            assert module.startswith("core.tools.")
            assert kind.endswith("Tool"), tool_name


async def test_the_class_works() -> None:
    """Called through a registry, with and without its optional argument."""
    from core.agentpress.tool import ToolResult
    from core.agentpress.tool_registry import ToolRegistry

    registry = ToolRegistry()
    registry.register_tool(example_tool())
    functions = registry.get_available_functions()
    assert await functions["transform"](input_text="abc") == ToolResult(
        success=True, output="Done: ABC (mode: fast)"
    )
    assert await functions["transform"](input_text="abc", mode="accurate") == ToolResult(
        success=True, output="Done: ABC (mode: accurate)"
    )
    assert (await functions["transform"](input_text="abc", mode="odd")).success is False
    assert await functions["report"](first="x") == ToolResult(
        success=True, output='{"status":"complete","data":["x",10]}'
    )


async def test_registering_in_three_ways() -> None:
    """All methods, some, and with arguments of the constructor."""
    from core.agentpress.tool_registry import ToolRegistry

    SampleTool = example_tool()  # noqa: N806 - a class
    registry = ToolRegistry()
    registry.register_tool(SampleTool)
    assert list(registry.tools) == ["transform", "report"]
    registry = ToolRegistry()
    registry.register_tool(SampleTool, function_names=["report"])
    assert list(registry.tools) == ["report"]
    registry.register_tool(SampleTool, api_key="key123")
    assert registry.get_tool("report")["instance"].api_key == "key123"


async def test_an_mcp_tool_is_registered() -> None:
    """Discovered first; calling it before a platform is open says what is missing."""
    from core.agentpress.mcp_registry import MCPToolInfo, MCPToolStatus, get_mcp_registry

    registry = get_mcp_registry()
    registry.register_tool_info(
        MCPToolInfo(
            tool_name="MY_TOOL",
            toolkit_slug="my_server",
            mcp_config={
                "type": "http",
                "config": {"url": "https://mcp.example.org"},
                "enabledTools": ["MY_TOOL"],
            },
            status=MCPToolStatus.DISCOVERED,
        )
    )
    assert registry.get_tools_by_status(MCPToolStatus.DISCOVERED) == ["MY_TOOL"]
    answer = await registry.execute_tool("MY_TOOL", {})
    assert "open_platform() is missing" in answer.output


def test_the_schema_format() -> None:
    """A function with an object of parameters."""
    schema = example_tool()().get_schemas()["report"][0].schema
    assert schema == {
        "type": "function",
        "function": {
            "name": "report",
            "description": "Report",
            "parameters": {
                "type": "object",
                "properties": {
                    "first": {"type": "string", "description": "One"},
                    "second": {"type": "integer", "description": "Another", "default": 10},
                },
                "required": ["first"],
            },
        },
    }


@pytest.mark.usefixtures("catalogue")
def test_discovery() -> None:
    """Summaries, categories, one tool's metadata and its guide."""
    from core.tools.tool_registry import (
        get_all_tool_summaries,
        get_tool_metadata_summary,
        get_tool_usage_guide,
        get_tools_by_category,
    )

    summary = {"display_name": "Web Search", "description": "Search the web"}
    assert get_all_tool_summaries()["web_search_tool"] == summary
    assert get_tool_metadata_summary("web_search_tool") == summary
    assert list(get_tools_by_category()) == [
        "core",
        "sandbox",
        "search",
        "utility",
        "agent_builder",
    ]
    assert get_tool_usage_guide("browser_tool") == "Look before you click."


@pytest.mark.usefixtures("catalogue")
async def test_a_fresh_registry_calls_a_native_group() -> None:
    """By the group's name, before anything was registered."""
    from core.agentpress.tool_registry import ToolRegistry

    functions = ToolRegistry().get_available_functions()
    result = await functions["web_search_tool"](query="news of boats")
    assert (result.success, result.output) == (True, "results for news of boats")


async def test_schemas_for_a_model() -> None:
    """Native ones, and all of them."""
    from core.agentpress.mcp_registry import MCPToolInfo, get_mcp_registry
    from core.agentpress.tool_registry import ToolRegistry

    registry = ToolRegistry()
    registry.register_tool(example_tool())
    get_mcp_registry().register_tool_info(MCPToolInfo("FAR", "far", mail()))
    native = [one["function"]["name"] for one in registry.get_openapi_schemas()]
    assert native == ["transform", "report"]
    everything = [one["function"]["name"] for one in registry.get_all_schemas()]
    assert everything == ["transform", "report", "FAR"]


async def test_schema_caching() -> None:
    """Discovery fills the cache, prewarming reads it."""
    from core.agentpress.mcp_registry import MCPToolInfo, get_mcp_registry

    registry = get_mcp_registry()
    registry.connector = Servers({"https://mail.example": {"GMAIL_SEND_EMAIL": send}})
    try:
        registry.register_tool_info(MCPToolInfo("GMAIL_SEND_EMAIL", "gmail", mail()))
        assert await registry.prewarm_schemas(account_id="user123") == 0
        found = await registry.get_discovery_info(
            filter_pattern="GMAIL", load_schemas=True, account_id="user123"
        )
        assert list(found["available_tools"]) == ["GMAIL_SEND_EMAIL"]
        registry.register_tool_info(MCPToolInfo("GMAIL_SEND_EMAIL", "gmail", mail()))
        assert await registry.prewarm_schemas(account_id="user123") == 1
    finally:
        registry.connector = None
        await registry.cache.drop("")


def test_every_argument_of_tool_metadata() -> None:
    """All eight are kept."""
    from core.agentpress.tool import Tool, ToolMetadata, tool_metadata

    said = {
        "display_name": "For people",
        "description": "In short",
        "icon": "an-icon",
        "color": "a-color",
        "is_core": False,
        "weight": 100,
        "visible": True,
        "usage_guide": "At length",
    }

    @tool_metadata(**said)
    class OneTool(Tool):
        pass

    assert OneTool().get_metadata() == ToolMetadata(**said)


def test_invalidation() -> None:
    """Three calls, whatever was cached."""
    from core.agentpress.tool_registry import ToolRegistry

    registry = ToolRegistry()
    registry.register_tool(example_tool())
    before = registry.get_openapi_schemas(), registry.get_available_functions()
    registry.invalidate_schema_cache()
    registry.invalidate_function_cache()
    registry.invalidate_mcp_cache()
    assert (registry.get_openapi_schemas(), registry.get_available_functions()) == before


def test_responses() -> None:
    """A text, a failure, structured data."""
    from core.agentpress.tool import Tool, ToolResult

    tool = Tool()
    assert tool.success_response("It worked") == ToolResult(success=True, output="It worked")
    assert tool.fail_response("It did not") == ToolResult(success=False, output="It did not")
    assert tool.success_response({"data": []}) == ToolResult(success=True, output='{"data":[]}')
