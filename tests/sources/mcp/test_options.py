"""Options of MCP capabilities are checked with the place of what is wrong."""

from __future__ import annotations

from typing import Any

import pytest

from toolcrib.sources.mcp.options import McpOptions

GOOD = {"server_label": "wiki", "server_url": "https://mcp.example.test/mcp"}


@pytest.mark.parametrize(
    "options",
    [
        GOOD,
        {**GOOD, "require_approval": "never", "allowed_tools": [], "tool_filter": {"a": 1}},
        {**GOOD, "require_approval": {"never": {"tool_names": ["a"]}}},
        {**GOOD, "headers": {"Authorization": "Bearer ${TOKEN}"}},
        {**GOOD, "headers.Authorization": "Bearer ${TOKEN}"},
        {"server_label": "${LABEL}", "server_url": "${URL}", "require_approval": "${APPROVAL}"},
    ],
)
def test_what_the_published_examples_hold_is_fine(options: dict[str, Any]) -> None:
    """Unknown keys and placeholders are no fault."""
    assert McpOptions().check({"options": options}) == []


@pytest.mark.parametrize(
    ("options", "where"),
    [
        (None, "options"),
        ([], "options"),
        ({"server_url": "https://x.example"}, "options.server_label"),
        ({"server_label": " ", "server_url": "https://x.example"}, "options.server_label"),
        ({"server_label": "x"}, "options.server_url"),
        ({**GOOD, "server_url": "mcp.example.test"}, "options.server_url"),
        ({**GOOD, "require_approval": "sometimes"}, "options.require_approval"),
        ({**GOOD, "headers": ["a"]}, "options.headers"),
        ({**GOOD, "headers": {"X": 1}}, "options.headers.X"),
    ],
)
def test_each_fault_names_its_place(options: object, where: str) -> None:
    """The author finds the field."""
    assert [f.where for f in McpOptions().check({"options": options})] == [where]
