"""ToolRegistry: registration, functions, schemas, caches."""

from __future__ import annotations

import logging
from pathlib import Path
from typing import Any

import pytest

from tests.kit.servers import SCHEMA, mail
from toolcrib.kit import MCPRegistry, MCPToolInfo, Tool, ToolRegistry, ToolResult, openapi_schema
from toolcrib.kit.instances import clear_instances


class ClockTool(Tool):
    made = 0

    def __init__(self, api_key: str = "none") -> None:
        super().__init__()
        type(self).made += 1
        self.api_key = api_key

    @openapi_schema(name="read", description="Read the clock")
    async def read(self) -> ToolResult:
        return self.success_response(f"noon {self.api_key}")

    @openapi_schema(name="wind", description="Wind it")
    async def wind(self) -> ToolResult:
        return self.success_response("wound")


class OtherClockTool(Tool):
    @openapi_schema(name="read", description="Read another clock")
    async def read(self) -> ToolResult:
        return self.success_response("midnight")

    @openapi_schema(name="set_alarm", description="Under another name")
    async def alarm(self) -> ToolResult:
        return self.success_response("set")


class ClockMCPTool(Tool):
    @openapi_schema(name="remote_read", description="Read far away")
    async def remote_read(self) -> ToolResult:
        return self.success_response("far")


def names(schemas: list[dict[str, Any]]) -> list[str]:
    return [one["function"]["name"] for one in schemas]


@pytest.fixture
def registry() -> ToolRegistry:
    return ToolRegistry(mcp_registry=MCPRegistry())


async def test_all_methods_are_registered(registry: ToolRegistry) -> None:
    """Each under its function name, with the instance and the schema."""
    registry.register_tool(ClockTool)
    assert list(registry.tools) == ["read", "wind"]
    assert registry.get_tool("read") == {
        "instance": registry.tools["wind"]["instance"],
        "schema": ClockTool().get_schemas()["read"][0],
    }
    functions = registry.get_available_functions()
    assert await functions["read"]() == ToolResult(success=True, output="noon none")


def test_only_named_methods(registry: ToolRegistry, caplog: pytest.LogCaptureFixture) -> None:
    """A name that the class does not have is a warning."""
    with caplog.at_level(logging.WARNING, "toolcrib.kit"):
        registry.register_tool(ClockTool, function_names=["wind", "chime"])
    assert list(registry.tools) == ["wind"]
    assert caplog.messages == ["ClockTool has no function 'chime'; it is ignored"]
    registry.register_tool(ClockTool, function_names=[])
    assert list(registry.tools) == ["wind"]


async def test_arguments_go_to_the_constructor(registry: ToolRegistry) -> None:
    """They make an instance of this registry's own."""
    registry.register_tool(ClockTool, api_key="key123")
    answer = await registry.get_available_functions()["read"]()
    assert answer == ToolResult(success=True, output="noon key123")


def test_an_instance_without_arguments_is_shared(registry: ToolRegistry) -> None:
    """Every registry gets the same one until the cache is cleared."""
    other = ToolRegistry(mcp_registry=MCPRegistry())
    before = ClockTool.made
    registry.register_tool(ClockTool)
    other.register_tool(ClockTool)
    assert ClockTool.made == before + 1
    assert registry.tools["read"]["instance"] is other.tools["read"]["instance"]
    clear_instances()
    other.register_tool(ClockTool)
    assert registry.tools["read"]["instance"] is not other.tools["read"]["instance"]
    registry.register_tool(ClockTool, api_key="own")
    assert registry.tools["read"]["instance"].api_key == "own"


async def test_a_later_registration_replaces(registry: ToolRegistry) -> None:
    """Functions and schemas show it at once."""
    registry.register_tool(ClockTool)
    assert names(registry.get_openapi_schemas()) == ["read", "wind"]
    assert (await registry.get_available_functions()["read"]()).output == "noon none"
    registry.register_tool(OtherClockTool)
    assert (await registry.get_available_functions()["read"]()).output == "midnight"
    assert [s["function"]["description"] for s in registry.get_openapi_schemas()] == [
        "Read another clock",
        "Wind it",
        "Under another name",
    ]


async def test_a_method_whose_schema_has_another_name(registry: ToolRegistry) -> None:
    """A model's name is the key; the method's own finds it, too."""
    registry.register_tool(OtherClockTool, function_names=["alarm"])
    functions = registry.get_available_functions()
    assert list(functions) == ["set_alarm"]
    assert functions["alarm"] == functions["set_alarm"]


def test_an_absent_tool(registry: ToolRegistry, caplog: pytest.LogCaptureFixture) -> None:
    """It is an empty dict, with a warning."""
    with caplog.at_level(logging.WARNING, "toolcrib.kit"):
        assert registry.get_tool("chime") == {}
    assert caplog.messages == ["the tool 'chime' is not registered"]


def test_functions_are_kept_until_invalidated(registry: ToolRegistry) -> None:
    """The same mapping, then a new one."""
    registry.register_tool(ClockTool)
    first = registry.get_available_functions()
    assert registry.get_available_functions() is first
    registry.invalidate_function_cache()
    assert registry.get_available_functions() is not first
    assert registry.get_available_functions() == first


def test_schemas_are_kept_until_invalidated(registry: ToolRegistry) -> None:
    """What is put into `tools` behind the registry's back shows after invalidation."""
    registry.register_tool(ClockTool)
    assert names(registry.get_openapi_schemas()) == ["read", "wind"]
    del registry.tools["wind"]
    assert names(registry.get_openapi_schemas()) == ["read", "wind"]
    registry.invalidate_schema_cache()
    assert names(registry.get_openapi_schemas()) == ["read"]
    registry.tools.clear()
    registry.invalidate_mcp_cache()
    assert registry.get_openapi_schemas() == []


def test_the_list_is_the_callers_own(registry: ToolRegistry) -> None:
    """Emptying it empties nobody else's."""
    registry.register_tool(ClockTool)
    registry.get_openapi_schemas().clear()
    assert names(registry.get_openapi_schemas()) == ["read", "wind"]


def test_mcp_tools_are_left_out_of_native_schemas(registry: ToolRegistry) -> None:
    """By their class's name, or because the MCP registry knows them, whenever that was."""
    registry.register_tool(ClockTool)
    registry.register_tool(ClockMCPTool)
    assert names(registry.get_openapi_schemas()) == ["read", "wind"]
    registry.mcp_registry.register_tool_info(MCPToolInfo("wind", "far", mail()))
    assert names(registry.get_openapi_schemas()) == ["read"]


def test_all_schemas_include_mcp_tools(registry: ToolRegistry) -> None:
    """Those registered here and those of the MCP registry, each name once."""
    registry.register_tool(ClockTool)
    registry.register_tool(ClockMCPTool)
    known = MCPToolInfo("SEND", "mail", mail(), schema=dict(SCHEMA), description="Send mail")
    registry.mcp_registry.register_tool_info(known)
    registry.mcp_registry.register_tool_info(MCPToolInfo("LATER", "mail", mail()))
    registry.mcp_registry.register_tool_info(MCPToolInfo("wind", "mail", mail()))
    schemas = registry.get_all_schemas()
    assert names(schemas) == ["read", "wind", "remote_read", "SEND", "LATER"]
    assert schemas[3] == {
        "type": "function",
        "function": {"name": "SEND", "description": "Send mail", "parameters": SCHEMA},
    }


@pytest.mark.usefixtures("workshop")
async def test_a_group_is_an_alias() -> None:
    """A fresh registry finds a group of the catalogue; nothing is iterated over twice."""
    registry = ToolRegistry(mcp_registry=MCPRegistry())
    functions = registry.get_available_functions()
    answer = await functions["web_search_tool"](query="AI news")
    assert answer == ToolResult(success=True, output="results for AI news")
    assert list(functions) == []
    now = registry.get_available_functions()
    assert list(now) == ["web_search", "scrape_webpage"]
    assert now["web_search_tool"] == now["web_search"]
    assert now.get("web_search_tool") == now["web_search"]
    assert now.get("no_such_tool") is None


@pytest.mark.usefixtures("workshop")
def test_a_group_of_one_function_is_an_alias_of_it() -> None:
    """Whatever that function is called."""
    functions = ToolRegistry(mcp_registry=MCPRegistry()).get_available_functions()
    assert functions["lathe_tool"].__name__ == "turn"


@pytest.mark.usefixtures("workshop")
def test_a_group_of_several_is_asked_back() -> None:
    """The error names the functions to choose from."""
    functions = ToolRegistry(mcp_registry=MCPRegistry()).get_available_functions()
    with pytest.raises(KeyError, match="browser_navigate_to, browser_act"):
        functions["browser_tool"]
    with pytest.raises(KeyError, match="no_such_tool"):
        functions["no_such_tool"]


def test_a_group_that_is_not_installed(workshop: Path) -> None:
    """It is as unknown as any other name."""
    assert workshop.is_dir()
    functions = ToolRegistry(mcp_registry=MCPRegistry()).get_available_functions()
    with pytest.raises(KeyError, match="image_search_tool"):
        functions["image_search_tool"]
