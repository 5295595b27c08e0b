"""Tools described for people, and the methods that a configuration leaves enabled."""

from __future__ import annotations

from typing import Any

import pytest

from toolcrib.kit.catalogue import get_all_tools
from toolcrib.kit.descriptions import (
    get_tool_metadata,
    get_tools_metadata,
    spaced,
    warm_up_tools_cache,
)
from toolcrib.kit.method_selection import get_enabled_methods_for_tool, validate_tool_config

pytestmark = pytest.mark.usefixtures("workshop")


def test_a_described_tool() -> None:
    """What the decorators say; a method without a word of its own has its schema's."""
    assert get_tool_metadata("web_search_tool") == {
        "name": "web_search_tool",
        "tool_class": "SandboxWebSearchTool",
        "enabled": True,
        "display_name": "Web Search",
        "description": "Search the web",
        "icon": "globe",
        "is_core": False,
        "weight": 20,
        "visible": True,
        "methods": [
            {
                "name": "web_search",
                "enabled": True,
                "display_name": "Web Search",
                "description": "Search",
                "is_core": False,
                "visible": True,
            },
            {
                "name": "scrape_webpage",
                "enabled": True,
                "display_name": "Read a page",
                "description": "Reads it whole",
                "is_core": False,
                "visible": False,
            },
        ],
    }


def test_a_class_without_metadata() -> None:
    """Its name and its docstring speak for it."""
    found = get_tool_metadata("sb_files_tool") or {}
    assert {key: value for key, value in found.items() if key != "methods"} == {
        "name": "sb_files_tool",
        "tool_class": "SandboxFilesTool",
        "enabled": True,
        "display_name": "Sandbox Files",
        "description": "Keeps files.",
        "is_core": False,
        "weight": 100,
        "visible": False,
    }
    assert get_tool_metadata("no_such_tool") is None


@pytest.mark.parametrize(
    ("name", "words"),
    [("SandboxWebSearch", "Sandbox Web Search"), ("MCPSearch", "MCP Search"), ("Tool", "Tool")],
)
def test_a_name_in_words(name: str, words: str) -> None:
    """Capitals begin words; a run of them is one."""
    assert spaced(name) == words


def test_the_lowest_weight_stands_first() -> None:
    """Equal weights keep the catalogue's order."""
    assert [tool["name"] for tool in get_tools_metadata()] == [
        "message_tool",
        "web_search_tool",
        "sb_files_tool",
        "browser_tool",
        "vapi_voice_tool",
        "lathe_tool",
    ]


def test_warming_up_twice() -> None:
    """Says the same; the classes are found once."""
    assert warm_up_tools_cache() == 6
    first = get_all_tools()
    assert warm_up_tools_cache() == 6
    assert get_all_tools() == first


@pytest.mark.parametrize(
    ("config", "methods"),
    [
        ({}, None),
        ({"web_search_tool": True}, None),
        ({"web_search_tool": {}}, None),
        ({"web_search_tool": {"enabled": True}}, None),
        ({"web_search_tool": False}, []),
        ({"web_search_tool": {"enabled": False, "methods": {"web_search": True}}}, []),
        ({"web_search_tool": {"methods": {"web_search": False}}}, ["scrape_webpage"]),
        ({"web_search_tool": {"methods": {"web_search": {"enabled": False}}}}, ["scrape_webpage"]),
        (
            {"web_search_tool": {"methods": {"scrape_webpage": True}}},
            ["web_search", "scrape_webpage"],
        ),
    ],
)
def test_enabled_methods(config: dict[str, Any], methods: list[str] | None) -> None:
    """None means all; methods of which nothing is said stay."""
    assert get_enabled_methods_for_tool("web_search_tool", config) == methods


def test_what_is_core_stays() -> None:
    """A core tool cannot be switched off, a core method not by name."""
    assert get_enabled_methods_for_tool("message_tool", {"message_tool": False}) is None
    off = {"sb_files_tool": {"methods": {"create_file": False, "delete_file": False}}}
    assert get_enabled_methods_for_tool("sb_files_tool", off) == ["delete_file"]


def test_a_configuration_in_one_form() -> None:
    """Every short form written out."""
    given = {"a": True, "b": False, "c": {"methods": {"x": False, "y": {"enabled": True}}}}
    assert validate_tool_config(given) == {
        "a": {"enabled": True, "methods": {}},
        "b": {"enabled": False, "methods": {}},
        "c": {"enabled": True, "methods": {"x": {"enabled": False}, "y": {"enabled": True}}},
    }
