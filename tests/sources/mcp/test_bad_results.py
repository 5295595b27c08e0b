"""Servers whose results are odd: nothing that was sent is lost, and nothing is made up."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from tests.sources.mcp.conftest import SHORT, Bench
from tests.support.mcp_bad import ALLOW, serving
from tests.support.mcp_script import result, tool
from toolcrib.sources.mcp.results import WARNINGS

WAYS = ("stdio", "http-2026", "stream", "plain")
"""A result is read in three places: by the library, past it, and plainly."""
every_way = pytest.mark.parametrize("way", WAYS)
IDS = {
    "type": "object",
    "properties": {"ids": {"type": "array", "items": {"type": "string"}}},
    "required": ["ids"],
}
TEXT = {"type": "text", "text": "said"}


@pytest.fixture
def bench(make_bench: Callable[..., Bench]) -> Bench:
    patient = replace(SHORT, opening=60.0, listing=60.0, patience=60.0)
    return make_bench(patient, allow=ALLOW)


async def got(bench: Bench, way: str, given: Any, folder: Path, schema: Any = None) -> Any:
    """The Output of a call that is answered so."""
    listed = tool("t") if schema is None else tool("t", outputSchema=schema)
    script = {"tools": [listed], "say": {"tools/call": [[result(given)]]}}
    async with serving(way, script, folder) as server:
        upstream = await bench.upstream(server)
        await upstream.look()
        output, _ = await bench.call(upstream, "t", deadline=60)
        await bench.close()
    return output


NONE: dict[str, Any] = {
    "empty": {},
    "null": {"content": None},
    "text": {"content": "said"},
    "object": {"content": {"type": "text", "text": "said"}},
    "only structure": {"structuredContent": {"ids": ["a"]}},
    "unfinished": {"content": [], "resultType": "unheard_of"},
    "a task": {"content": [], "resultType": "task", "task": {"taskId": "1"}},
    "odd type": {"content": [], "resultType": 5},
}


@every_way
@pytest.mark.parametrize("given", NONE)
async def test_what_is_no_result_is_a_failure(
    bench: Bench, way: str, given: str, tmp_path: Path
) -> None:
    output = await got(bench, way, NONE[given], tmp_path)
    assert output.error is not None
    assert output.error.code == "upstream_error"


BLOCKS: list[Any] = [
    TEXT,
    {"type": "text"},
    {"type": "text", "text": None},
    {"type": "text", "text": 5},
    {"type": "image", "data": "no base64!", "mimeType": "image/png"},
    {"type": "image", "data": "eA==", "mimeType": None},
    {"type": "audio"},
    {"type": "resource_link", "uri": "x:y"},
    {"type": "unheard_of", "a": [1]},
    {"type": None},
    {"type": ["text"]},
    {"text": "of no type"},
    {},
]


@every_way
async def test_odd_content_is_kept_as_it_came(bench: Bench, way: str, tmp_path: Path) -> None:
    output = await got(bench, way, {"content": BLOCKS}, tmp_path)
    assert output.success
    assert [part.as_json() for part in output.parts] == BLOCKS


@every_way
@pytest.mark.parametrize("block", [None, "said", 5, ["said"]], ids=str)
async def test_content_of_no_kind_is_kept(
    bench: Bench, way: str, block: Any, tmp_path: Path
) -> None:
    output = await got(bench, way, {"content": [block, TEXT]}, tmp_path)
    assert output.success
    assert [part.as_json() for part in output.parts] == [{"type": "unknown", "value": block}, TEXT]


@every_way
@pytest.mark.parametrize("structured", [{"ids": []}, {"ids": None}, {}, {"other": 1}], ids=str)
async def test_a_failure_is_not_held_to_the_schema(
    bench: Bench, way: str, structured: Any, tmp_path: Path
) -> None:
    """It keeps its words and its structure, and gets no warning."""
    given = {"content": [TEXT], "isError": True, "structuredContent": structured}
    output = await got(bench, way, given, tmp_path, IDS)
    assert output.error is not None
    assert (output.error.code, output.error.message) == ("tool_error", "said")
    assert output.structured == structured
    assert WARNINGS not in output.meta


@every_way
@pytest.mark.parametrize("flag", ["true", 1, None, "yes", []], ids=str)
async def test_only_true_is_a_failure(bench: Bench, way: str, flag: Any, tmp_path: Path) -> None:
    output = await got(bench, way, {"content": [TEXT], "isError": flag}, tmp_path)
    assert (output.success, output.text) == (True, "said")


LISTS = {"type": "array", "items": {"$ref": "#/$defs/id"}, "$defs": {"id": {"type": "string"}}}
FITS: dict[str, tuple[Any, Any, bool]] = {
    "fits": (IDS, {"ids": ["a"]}, True),
    "an empty list": (IDS, {"ids": []}, True),
    "null inside": (IDS, {"ids": None}, False),
    "lacks all": (IDS, {}, False),
    "null": (IDS, None, False),
    "text": (IDS, "ids", False),
    "a list": (LISTS, ["a", "b"], True),
    "a list of others": (LISTS, ["a", 5], False),
    "text where a number is due": ({"type": "number"}, "5", False),
    "any": ({}, {"x": 1}, True),
    "a schema that is none": ({"type": "objekt"}, {"x": 1}, True),
    "a lost reference": ({"$ref": "#/$defs/nowhere"}, {"x": 1}, True),
    "of itself": ({"type": "object", "properties": {"a": {"$ref": "#"}}}, {"a": {"a": 1}}, False),
}


@every_way
@pytest.mark.parametrize("case", FITS)
async def test_a_misfit_is_a_warning_and_the_content_is_kept(
    bench: Bench, way: str, case: str, tmp_path: Path
) -> None:
    """A schema that cannot be used judges nothing."""
    schema, structured, fits = FITS[case]
    given = {"content": [TEXT], "structuredContent": structured}
    output = await got(bench, way, given, tmp_path, schema)
    assert output.success
    assert output.text == "said"
    assert output.structured == structured
    assert (WARNINGS not in output.meta) == fits


@every_way
async def test_no_structure_where_one_was_promised_is_a_warning(
    bench: Bench, way: str, tmp_path: Path
) -> None:
    output = await got(bench, way, {"content": [TEXT]}, tmp_path, IDS)
    assert output.success
    assert output.meta[WARNINGS] == [
        "The tool has an output schema and gave no structured content."
    ]


@every_way
@pytest.mark.parametrize("meta", [None, 5, "x", [], {"toolcrib/error": {"code": "held"}}], ids=str)
async def test_odd_metadata_says_nothing(bench: Bench, way: str, meta: Any, tmp_path: Path) -> None:
    output = await got(bench, way, {"content": [TEXT], "_meta": meta}, tmp_path)
    assert (output.success, output.text, dict(output.meta)) == (True, "said", {})


@every_way
async def test_numbers_come_through_as_they_are(bench: Bench, way: str, tmp_path: Path) -> None:
    """Also those that no machine word holds."""
    structured = {"a": 2**80, "b": -1, "c": 0.1, "d": 1e300, "e": 2**53 + 1}
    given = {"content": [], "structuredContent": structured}
    assert (await got(bench, way, given, tmp_path)).structured == structured
