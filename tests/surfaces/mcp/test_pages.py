"""What is remembered of lists stays within bounds, whatever clients ask for."""

from __future__ import annotations

import base64
import json

from toolcrib.resolution.toolset import ResolvedTool, Toolset
from toolcrib.surfaces.mcp.listing import Pages
from toolcrib.tools.call import Call
from toolcrib.tools.result import Output
from toolcrib.tools.schema import ArgumentChecker
from toolcrib.tools.spec import ToolSpec

SCHEMA = {"type": "object"}


async def silent(call: Call) -> Output:
    return Output()


def tool(name: str) -> ResolvedTool:
    return ResolvedTool(
        name=name,
        ref=f"native:many/{name}",
        spec=ToolSpec(name=name, description="d" * 100, input_schema=SCHEMA),
        kind="native",
        code="many",
        capability_id=None,
        origin="many",
        run=silent,
        checker=ArgumentChecker(SCHEMA),
        prompt=True,
    )


def toolset(count: int = 100) -> Toolset:
    return Toolset(tools={name: tool(name) for name in (f"t{n}" for n in range(count))})


def cursor(end: int, name: str = "gone") -> str:
    return base64.urlsafe_b64encode(json.dumps([end, name]).encode()).decode().rstrip("=")


def test_made_up_cursors_leave_nothing_behind() -> None:
    """Each place in a list is a page of its own, and a client may name all of them."""
    pages, tools = Pages(10), toolset()
    wanted: str | None = None
    for _ in range(10):
        page = pages.page(tools, wanted, modern=True)
        wanted = page.next_cursor
    walked = pages.bytes
    for end in range(100):
        assert json.loads(pages.page(tools, cursor(end), modern=True).tools)[0]["name"] == f"t{end}"
    assert (pages.bytes, wanted) == (walked, None)


def test_lists_of_many_callers_are_forgotten_in_time() -> None:
    one = len(Pages(10).page(toolset(), None, modern=True).tools)
    pages = Pages(10, most_bytes=one * 3)
    lists = [toolset() for _ in range(20)]
    for tools in lists:
        for end in (0, 10, 20):
            assert pages.page(tools, cursor(end), modern=True).tools
            assert pages.bytes <= one * 3
    first = json.loads(pages.page(lists[0], None, modern=True).tools)
    assert [entry["name"] for entry in first] == [f"t{n}" for n in range(10)]


def test_a_page_that_is_larger_than_all_room_is_given_all_the_same() -> None:
    pages = Pages(10, most_bytes=10)
    page = pages.page(toolset(), None, modern=True)
    assert (len(json.loads(page.tools)), pages.bytes) == (10, 0)


def test_what_a_forgotten_list_held_is_not_counted_any_more() -> None:
    pages = Pages(10)
    lists = [toolset(10) for _ in range(300)]
    for tools in lists:
        pages.page(tools, None, modern=False)
    one = len(Pages(10).page(lists[0], None, modern=False).tools)
    assert pages.bytes == 128 * one
