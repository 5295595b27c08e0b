"""Servers that list their tools badly: what can be read is there, and what cannot has a reason."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from tests.sources.mcp.conftest import SHORT, Bench
from tests.support.mcp_bad import ALLOW, WAYS, serving
from tests.support.mcp_script import Step, listed, refusal, result, tool
from toolcrib.sources.mcp.listing import MAX_BYTES, MAX_PAGES, MAX_TOOLS
from toolcrib.sources.mcp.upstream import State

PATIENT = replace(SHORT, opening=60.0, listing=60.0, patience=60.0)
every_way = pytest.mark.parametrize("way", WAYS)
two_ways = pytest.mark.parametrize("way", ["stdio", "http-2026"])
"""What is read of a list is the same, however it came."""


@pytest.fixture
def bench(make_bench: Callable[..., Bench]) -> Bench:
    return make_bench(PATIENT, allow=ALLOW)


async def state_of(bench: Bench, way: str, pages: list[Step], folder: Path) -> State:
    """The server that gives these answers to requests for its list, one after the other."""
    script = {"say": {"tools/list": [[page] for page in pages]}}
    async with serving(way, script, folder) as server:
        state = await (await bench.upstream(server)).look()
        await bench.close()
    return state


@two_ways
@pytest.mark.parametrize("cursor", [None, ""], ids=["null", "empty"])
async def test_no_cursor_ends_the_list(bench: Bench, way: str, cursor: Any, tmp_path: Path) -> None:
    """Absent, null and empty are one: there is no further page."""
    last = listed(tool("b"))
    last["result"]["nextCursor"] = cursor
    pages = [listed(tool("a"), then="more"), last, listed(tool("c"))]
    state = await state_of(bench, way, pages, tmp_path)
    assert (list(state.tools.specs), state.tools.warnings) == (["a", "b"], [])


@two_ways
@pytest.mark.parametrize("cursor", [5, 0, True, ["x"], {"at": 1}], ids=str)
async def test_a_cursor_that_is_no_text_ends_the_list(
    bench: Bench, way: str, cursor: Any, tmp_path: Path
) -> None:
    """With a warning: there may be more."""
    pages = [listed(tool("a"), then=cursor), listed(tool("b"))]
    state = await state_of(bench, way, pages, tmp_path)
    assert (state.status, list(state.tools.specs)) == ("connected", ["a"])
    assert state.tools.warnings == ["its list of tools names no readable next page"]


@two_ways
@pytest.mark.parametrize("turns", [("same",), ("a", "b"), ("a", "b", "c")], ids=len)
async def test_pages_in_a_circle_are_read_once(
    bench: Bench, way: str, turns: tuple[str, ...], tmp_path: Path
) -> None:
    pages = [listed(tool(f"t{n}"), then=turns[n % len(turns)]) for n in range(10)]
    state = await state_of(bench, way, pages, tmp_path)
    assert len(state.tools.specs) == len(turns) + 1
    assert state.tools.warnings == ["its list of tools repeats a cursor, so the list ends there"]


@two_ways
async def test_pages_without_end_are_ended(bench: Bench, way: str, tmp_path: Path) -> None:
    """Each with a new cursor, some of them empty."""
    pages = [listed(*[tool(f"t{n}")] * (n % 2), then=f"c{n}") for n in range(MAX_PAGES + 50)]
    state = await state_of(bench, way, pages, tmp_path)
    assert len(state.tools.specs) == MAX_PAGES // 2
    assert state.tools.warnings == [
        f"its list of tools has more than {MAX_PAGES} pages; the rest is left out"
    ]


@two_ways
@pytest.mark.parametrize(
    "second",
    [
        refusal(-32602, "bad cursor"),
        refusal(-32603, "out of memory"),
        result({"tools": {"a": 1}}),
        result({"tools": None}),
        result({}),
    ],
    ids=["bad-cursor", "broken", "object", "null", "absent"],
)
async def test_a_page_that_cannot_be_had_ends_the_list(
    bench: Bench, way: str, second: Step, tmp_path: Path
) -> None:
    """What was listed until then stays."""
    state = await state_of(bench, way, [listed(tool("a"), then="more"), second], tmp_path)
    assert (state.status, list(state.tools.specs)) == ("connected", ["a"])
    assert len(state.tools.warnings) == 1


@two_ways
@pytest.mark.parametrize(
    "first",
    [
        refusal(-32601, "no tools here"),
        result({"tools": "none"}),
        result({"tools": None}),
        result({}),
        result({"tools": {"t": {}}}),
    ],
    ids=["refused", "text", "null", "absent", "object"],
)
async def test_no_list_at_all_is_a_failure(
    bench: Bench, way: str, first: Step, tmp_path: Path
) -> None:
    state = await state_of(bench, way, [first], tmp_path)
    assert (state.status, list(state.tools.specs)) == ("failed", [])
    assert state.error is not None
    assert state.error[0] == "upstream_error"


@two_ways
async def test_what_is_listed_twice_is_there_once(bench: Bench, way: str, tmp_path: Path) -> None:
    """In one page and across pages; the first counts."""
    first = tool("a", description="first")
    pages = [listed(first, tool("a", description="second"), then="more"), listed(tool("a"))]
    state = await state_of(bench, way, pages, tmp_path)
    assert [spec.description for spec in state.tools.specs.values()] == ["first"]


ODD_NAMES = ["two words", "a/b", "a.b", "Ünïcode", "日本語", "😀", "<b>", '"', "..", "x" * 256]
NO_NAMES: list[Any] = ["", "x" * 257, "a\0b", "\ud800", None, 5, True, [], {}]


@every_way
async def test_names_may_be_odd(bench: Bench, way: str, tmp_path: Path) -> None:
    """A name is whatever the server says, within reason; what is no name costs that tool alone."""
    names = [*ODD_NAMES, *NO_NAMES, "last"]
    tools = [tool(name) for name in names]
    state = await state_of(bench, way, [listed(*tools, {"inputSchema": {}}, None, 7)], tmp_path)
    assert list(state.tools.specs) == [*ODD_NAMES, "last"]
    assert len(state.tools.skipped) == len(NO_NAMES) + 3


SCHEMAS: Mapping[str, tuple[Any, bool]] = {
    "null": (None, False),
    "text": ("oops", False),
    "list": ([], False),
    "true": (True, False),
    "of a list": ({"type": "array"}, False),
    "of two types": ({"type": ["object", "null"]}, False),
    "odd type": ({"type": "object", "properties": {"a": {"type": "objekt"}}}, False),
    "odd required": ({"type": "object", "required": "a"}, False),
    "bad pattern": ({"type": "object", "properties": {"a": {"pattern": "("}}}, False),
    "lost": ({"type": "object", "$ref": "#/$defs/nowhere"}, False),
    "a file": ({"type": "object", "$ref": "file:///etc/passwd"}, False),
    "empty": ({}, True),
    "a list for none": ({"type": "object", "properties": []}, True),
    "only a type": ({"type": "object"}, True),
    "no properties": ({"type": "object", "properties": {}}, True),
    "of itself": (
        {"type": "object", "properties": {"child": {"$ref": "#"}, "name": {"type": "string"}}},
        True,
    ),
    "of each other": (
        {
            "type": "object",
            "properties": {"a": {"$ref": "#/$defs/a"}},
            "$defs": {
                "a": {"type": "object", "properties": {"b": {"$ref": "#/$defs/b"}}},
                "b": {"type": "object", "properties": {"a": {"$ref": "#/$defs/a"}}},
            },
        },
        True,
    ),
    "older draft": ({"$schema": "http://json-schema.org/draft-07/schema#", "type": "object"}, True),
    "words of its own": ({"type": "object", "x-anything": [1]}, True),
}


@every_way
async def test_each_schema_is_judged_alone(bench: Bench, way: str, tmp_path: Path) -> None:
    tools = [{"name": name, "inputSchema": schema} for name, (schema, _) in SCHEMAS.items()]
    state = await state_of(bench, way, [listed(*tools)], tmp_path)
    fine = [name for name, (_, usable) in SCHEMAS.items() if usable]
    assert list(state.tools.specs) == fine
    assert {skip.ref for skip in state.tools.skipped} == set(SCHEMAS) - set(fine)


@pytest.mark.parametrize("key", ["inputSchema", "outputSchema"])
async def test_no_reference_is_followed_outside(bench: Bench, key: str, tmp_path: Path) -> None:
    """Neither while a list is read nor while a result is checked."""
    met: list[bool] = []

    async def meet(_: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        met.append(True)
        writer.close()

    async with await asyncio.start_server(meet, "127.0.0.1", 0) as listener:
        port = listener.sockets[0].getsockname()[1]
        where = f"http://127.0.0.1:{port}/schema.json"
        schema = {"type": "object", "properties": {"a": {"$ref": where}}}
        script = {"tools": [{**tool("t"), key: schema}]}
        async with serving("http", script, tmp_path) as server:
            upstream = await bench.upstream(server)
            state = await upstream.look()
            output, _ = await bench.call(upstream, "t")
            await bench.close()
    assert met == []
    assert state.status == "connected"
    assert (key == "outputSchema") == ("t" in state.tools.specs)
    assert output.success


@two_ways
async def test_a_definition_that_is_too_large_is_left_out(
    bench: Bench, way: str, tmp_path: Path
) -> None:
    """No model could read it, and nobody has to keep it."""
    large = "x" * (10 * 1024 * 1024)
    page = listed(
        tool("wordy", description=large),
        tool("near", description="x" * (MAX_BYTES - 500)),
        tool("deep", _meta={"more": [large[: MAX_BYTES + 1]]}),
    )
    state = await state_of(bench, way, [page], tmp_path)
    assert list(state.tools.specs) == ["near"]
    reasons = {skip.ref: skip.reason for skip in state.tools.skipped}
    assert set(reasons) == {"wordy", "deep"}
    assert all("larger than" in reason and len(reason) < 200 for reason in reasons.values())


@pytest.mark.parametrize("way", ["stdio", "http"])
async def test_of_very_many_tools_the_first_are_there(
    bench: Bench, way: str, tmp_path: Path
) -> None:
    """A hundred thousand in one page: the limit, and a warning."""
    tools = [{"name": f"t{n}", "inputSchema": {}} for n in range(100_000)]
    state = await state_of(bench, way, [listed(*tools)], tmp_path)
    assert len(state.tools.specs) == MAX_TOOLS
    assert state.tools.warnings == [f"it lists more than {MAX_TOOLS} tools; the rest is left out"]
