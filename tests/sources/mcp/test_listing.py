"""Lists of tools: pages, limits, and malformed tools that are left out alone."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import pytest

from toolcrib.errors import SourceProtocolError
from toolcrib.sources.mcp.listing import Ask, read_tools


def tool(name: object, **more: Any) -> dict[str, Any]:
    return {"name": name, "inputSchema": {"type": "object"}, **more}


def pages(given: Mapping[str, Mapping[str, Any]]) -> Ask:
    async def ask(cursor: str | None) -> Mapping[str, Any]:
        return given[cursor or ""]

    return ask


async def test_all_pages_are_read_and_duplicates_kept_once():
    """Empty pages are passed over, and a tool that comes twice is there once."""
    ask = pages(
        {
            "": {"tools": [tool("t0"), tool("t1")], "nextCursor": "c1"},
            "c1": {"tools": [tool("t2"), tool("t0")], "nextCursor": "c2"},
            "c2": {"tools": [], "nextCursor": "c3"},
            "c3": {"tools": [tool("t3")]},
        }
    )
    tools = await read_tools(ask)
    assert list(tools.specs) == ["t0", "t1", "t2", "t3"]
    assert (tools.skipped, tools.warnings) == ([], [])


async def test_repeated_cursor_ends_the_list():
    """A server that never stops is stopped, and what it listed stays."""
    same = {"tools": [tool("a")], "nextCursor": "same"}
    tools = await read_tools(pages({"": same, "same": same}))
    assert list(tools.specs) == ["a"]
    assert tools.warnings == ["its list of tools repeats a cursor, so the list ends there"]


async def test_endless_lists_are_cut():
    """New cursors for ever, or too many tools, end at the limits."""

    async def ask(cursor: str | None) -> Mapping[str, Any]:
        number = int(cursor or 0)
        return {"tools": [tool(f"t{number}")], "nextCursor": str(number + 1)}

    many = await read_tools(ask, pages=5)
    assert (len(many.specs), len(many.warnings)) == (5, 1)
    most = await read_tools(ask, most=3)
    assert (len(most.specs), len(most.warnings)) == (3, 1)


async def test_malformed_tools_are_left_out_alone():
    """Each bad tool is named with what is wrong; its neighbours stay."""
    raw = [
        tool("ok1"),
        {"inputSchema": {}},
        {"name": 5},
        tool("text", inputSchema="oops"),
        tool("list", inputSchema={"type": "array"}),
        tool("broken", inputSchema={"type": "object", "properties": {"a": {"type": 7}}}),
        tool("remote", inputSchema={"type": "object", "$ref": "http://127.0.0.1:9/x"}),
        None,
        tool("ok2", description="says"),
    ]
    tools = await read_tools(pages({"": {"tools": raw}}))
    assert list(tools.specs) == ["ok1", "ok2"]
    assert [skip.ref for skip in tools.skipped] == [
        "number 2",
        "number 3",
        "text",
        "list",
        "broken",
        "remote",
        "number 8",
    ]
    assert all(skip.reason for skip in tools.skipped)


async def test_deep_schema_is_left_out():
    """A schema nested without end harms nobody."""
    schema: dict[str, Any] = {"type": "object"}
    for _ in range(5000):
        schema = {"type": "object", "properties": {"a": schema}}
    tools = await read_tools(pages({"": {"tools": [tool("deep", inputSchema=schema), tool("b")]}}))
    assert list(tools.specs) == ["b"]


async def test_no_list_at_all_is_an_error():
    """An answer that is no list is the server's failure."""
    with pytest.raises(SourceProtocolError):
        await read_tools(pages({"": {"tools": "none"}}))


async def test_what_a_tool_says_of_itself_is_kept():
    """Annotations, output schema, title, icons and metadata come through."""
    raw = tool(
        "t",
        title="Tee",
        annotations={"readOnlyHint": True, "destructiveHint": "yes", "idempotentHint": False},
        outputSchema={"type": "object"},
        icons=[{"src": "data:,"}],
        _meta={"k": 1},
    )
    [spec] = (await read_tools(pages({"": {"tools": [raw]}}))).specs.values()
    assert spec.annotations.as_json() == {
        "title": "Tee",
        "readOnlyHint": True,
        "idempotentHint": False,
    }
    assert spec.output_schema == {"type": "object"}
    assert spec.meta == {"title": "Tee", "icons": [{"src": "data:,"}], "_meta": {"k": 1}}
