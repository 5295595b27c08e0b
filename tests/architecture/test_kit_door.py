"""The kit's front door: its names, and that opening it costs little."""

from __future__ import annotations

import pytest

from tests.architecture.test_front_door import HEAVY, modules_loaded_by
from toolcrib import kit

NAMES = [
    "Tool",
    "ToolResult",
    "ToolSchema",
    "SchemaType",
    "ToolMetadata",
    "MethodMetadata",
    "tool_metadata",
    "method_metadata",
    "openapi_schema",
    "param",
    "ToolRegistry",
    "get_all_tools",
    "get_tools_by_category",
    "get_all_tool_summaries",
    "get_tool_metadata_summary",
    "get_tool_usage_guide",
    "MCPRegistry",
    "MCPToolInfo",
    "MCPToolStatus",
    "get_mcp_registry",
]


@pytest.mark.parametrize("name", NAMES)
def test_name_loads(name: str):
    """Every promised name is there."""
    assert getattr(kit, name) is not None
    assert name in kit.__all__


def test_all_is_sorted():
    """And holds nothing that cannot be had."""
    assert kit.__all__ == sorted(kit.__all__)
    assert all(getattr(kit, name) is not None for name in kit.__all__)


def test_writing_a_class_stays_light():
    """A module of tool classes loads no framework, and no validator before the first call."""
    loaded = modules_loaded_by(
        "from toolcrib.kit import Tool, ToolResult, openapi_schema, param, tool_metadata"
    )
    assert sorted(loaded & {*HEAVY, "jsonschema_rs", "orjson"}) == []


def test_the_class_registry_stays_light():
    """So does a registry of classes."""
    loaded = modules_loaded_by("from toolcrib.kit import ToolRegistry; ToolRegistry()")
    assert sorted(loaded & set(HEAVY)) == []
