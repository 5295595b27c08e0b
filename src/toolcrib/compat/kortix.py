"""This module lets code written for Kortix import what it used to: `core.agentpress.tool` …"""

from __future__ import annotations

from toolcrib.compat.finder import Aliases, Names
from toolcrib.kit.announced import announced
from toolcrib.kit.groups import ALL_TOOLS

_KIT = "toolcrib.kit"


def _from(home: str, *names: str) -> dict[str, str]:
    return {name: f"{_KIT}.{home}:{name}" for name in names}


_MODULES: dict[str, Names] = {
    "core.agentpress.tool": {
        **_from("tool", "Tool"),
        **_from("result", "ToolResult"),
        **_from("schema", "SchemaType", "ToolSchema", "openapi_schema"),
        **_from("metadata", "MethodMetadata", "ToolMetadata", "method_metadata", "tool_metadata"),
    },
    "core.agentpress.schema": _from(
        "schema", "SchemaType", "ToolSchema", "openapi_schema", "param"
    ),
    "core.agentpress.tool_registry": _from("registry", "ToolRegistry"),
    "core.agentpress.mcp_registry": {
        **_from("mcp_registry", "MCPRegistry", "get_mcp_registry"),
        **_from("mcp_tool", "MCPExecutionContext", "MCPToolInfo", "MCPToolStatus"),
        **_from("mcp_loader", "init_mcp_registry_from_loader"),
    },
    "core.tools.tool_registry": {
        **_from("groups", "ALL_TOOLS", "CORE_TOOLS", "SANDBOX_TOOLS", "SEARCH_TOOLS"),
        **_from("groups", "UTILITY_TOOLS", "AGENT_BUILDER_TOOLS"),
        **_from("catalogue", "get_all_tool_summaries", "get_all_tools", "get_tool_class"),
        **_from("catalogue", "get_tool_info", "get_tool_metadata_summary"),
        **_from("catalogue", "get_tool_usage_guide", "get_tools_by_category"),
    },
    "core.tools.tool_guide_registry": {
        **_from("guides", "ToolGuideEntry", "ToolGuideRegistry", "get_tool_guide"),
        **_from("guides", "get_minimal_tool_index", "get_minimal_tool_index_filtered"),
    },
    "core.utils.tool_discovery": {
        **_from("descriptions", "get_tools_metadata", "get_tool_metadata", "warm_up_tools_cache"),
        **_from("method_selection", "get_enabled_methods_for_tool", "validate_tool_config"),
    },
}


def _announced_class(module: str) -> Names | None:
    """The module of a group in the catalogue, where the group's class is installed."""
    found = {
        kind: announced()[name].value
        for name, path, kind in ALL_TOOLS
        if path == module and name in announced()
    }
    return found or None


_PACKAGES = {path.rpartition(".")[0] for _, path, _ in ALL_TOOLS}
_aliases = Aliases(_MODULES, more=_announced_class, packages=_PACKAGES)


def install() -> None:
    """From now on these imports work, as far as no installed package provides them itself."""
    _aliases.install()


def uninstall() -> None:
    """Take the modules away again."""
    _aliases.uninstall()
