"""The class kit: a class whose decorated methods are tools, and the registries that keep them.

In come classes, written here or for Kortix; `sources/native` makes ordinary tools of those that
are registered under a code. Names load when they are first asked for.
"""

from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from toolcrib.kit.catalogue import (
        get_all_tool_summaries,
        get_all_tools,
        get_tool_class,
        get_tool_info,
        get_tool_metadata_summary,
        get_tool_usage_guide,
        get_tools_by_category,
    )
    from toolcrib.kit.mcp_registry import MCPRegistry, get_mcp_registry
    from toolcrib.kit.mcp_tool import MCPExecutionContext, MCPToolInfo, MCPToolStatus
    from toolcrib.kit.metadata import MethodMetadata, ToolMetadata, method_metadata, tool_metadata
    from toolcrib.kit.registry import ToolRegistry
    from toolcrib.kit.result import ToolResult
    from toolcrib.kit.schema import SchemaType, ToolSchema, openapi_schema, param
    from toolcrib.kit.tool import Tool

_HOMES = {
    "MCPExecutionContext": "mcp_tool",
    "MCPRegistry": "mcp_registry",
    "MCPToolInfo": "mcp_tool",
    "MCPToolStatus": "mcp_tool",
    "MethodMetadata": "metadata",
    "SchemaType": "schema",
    "Tool": "tool",
    "ToolMetadata": "metadata",
    "ToolRegistry": "registry",
    "ToolResult": "result",
    "ToolSchema": "schema",
    "get_all_tool_summaries": "catalogue",
    "get_all_tools": "catalogue",
    "get_mcp_registry": "mcp_registry",
    "get_tool_class": "catalogue",
    "get_tool_info": "catalogue",
    "get_tool_metadata_summary": "catalogue",
    "get_tool_usage_guide": "catalogue",
    "get_tools_by_category": "catalogue",
    "method_metadata": "metadata",
    "openapi_schema": "schema",
    "param": "schema",
    "tool_metadata": "metadata",
}
__all__ = [
    "MCPExecutionContext",
    "MCPRegistry",
    "MCPToolInfo",
    "MCPToolStatus",
    "MethodMetadata",
    "SchemaType",
    "Tool",
    "ToolMetadata",
    "ToolRegistry",
    "ToolResult",
    "ToolSchema",
    "get_all_tool_summaries",
    "get_all_tools",
    "get_mcp_registry",
    "get_tool_class",
    "get_tool_info",
    "get_tool_metadata_summary",
    "get_tool_usage_guide",
    "get_tools_by_category",
    "method_metadata",
    "openapi_schema",
    "param",
    "tool_metadata",
]


def __getattr__(name: str) -> object:
    if name not in _HOMES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(f"{__name__}.{_HOMES[name]}"), name)
