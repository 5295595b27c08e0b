"""Results: everything that a server sent comes out as it was, and failures are failures."""

from __future__ import annotations

from typing import Any

import pytest

from toolcrib.invocation.flight import Outcome
from toolcrib.sources.mcp.results import MOST_PARTS, WARNINGS, compiled, output_of
from toolcrib.surfaces.mcp.results import call_result
from toolcrib.tools.result import Output

BLOCKS: list[dict[str, Any]] = [
    {"type": "text", "text": "hi"},
    {"type": "text", "text": "", "annotations": {"audience": ["user"]}, "_meta": {"a": 1}},
    {"type": "image", "data": "AAEC", "mimeType": "image/png", "annotations": {"priority": 1}},
    {"type": "audio", "data": "AAEC", "mimeType": "audio/wav", "_meta": {"b": 2}},
    {"type": "image", "data": "not base64!", "mimeType": "image/png"},
    {"type": "resource", "resource": {"uri": "a:b", "text": "t", "_meta": {"c": 3}}},
    {"type": "resource_link", "uri": "a:b", "name": "n", "size": 3},
    {"type": "of_tomorrow", "value": [1, 2]},
]
SCHEMA = compiled(
    {
        "type": "object",
        "properties": {"ids": {"type": "array"}},
        "required": ["ids"],
    }
)


def test_every_kind_of_content_passes_unchanged():
    """Blocks come out as they went in, key for key."""
    output = output_of({"content": BLOCKS, "structuredContent": {"x": None}, "_meta": {"m": 1}})
    assert [part.as_json() for part in output.parts] == BLOCKS
    assert (output.structured, output.meta, output.success) == ({"x": None}, {"m": 1}, True)
    assert output.text == "hi\n"


def test_error_keeps_its_content():
    """isError is a failure, with all that came with it."""
    raw = {"content": [BLOCKS[0]], "structuredContent": {"why": 1}, "isError": True}
    output = output_of(raw, SCHEMA)
    assert (output.success, output.text, output.structured) == (False, "hi", {"why": 1})
    assert output.error is not None
    assert output.error.code == "tool_error"


@pytest.mark.parametrize(
    ("raw", "warned"),
    [
        ({"content": [], "structuredContent": {"ids": []}}, False),
        ({"content": []}, True),
        ({"content": [], "structuredContent": {"ids": None}}, True),
        ({"content": [], "structuredContent": None}, True),
    ],
)
def test_misfit_of_the_output_schema_is_a_warning(raw: dict[str, Any], warned: bool):
    """What does not fit the promised schema is kept and said."""
    output = output_of(raw, SCHEMA)
    assert output.success is True
    assert output.structured == raw.get("structuredContent")
    assert (WARNINGS in output.meta) is warned


def test_unusable_output_schema_hinders_nothing():
    """A schema that cannot be compiled, or that points elsewhere, is not used."""
    assert compiled({"type": 5}) is None
    assert compiled({"$ref": "file:///etc/passwd"}) is None


@pytest.mark.parametrize("raw", [{}, {"content": "text"}, {"content": None}])
def test_malformed_result_is_a_failure(raw: dict[str, Any]):
    """No content at all is the server's error."""
    output = output_of(raw, name="t")
    assert output.error is not None
    assert output.error.code == "upstream_error"


def test_question_to_a_person_is_a_failure_that_says_so():
    """A server that wants to ask somebody is told that nobody can be asked."""
    output = output_of({"resultType": "input_required", "inputRequests": {}}, name="t")
    assert output.error is not None
    assert "asks for input" in output.text


def outcome(output: Output) -> Outcome:
    return Outcome(
        call_id="call_1", tool="b", ref="mcp:a/b", arguments={}, output=output, duration_ms=1.0
    )


ODD: list[Any] = [None, 5, "text", True, [], ["text"], {}, {"type": "text"}]


@pytest.mark.parametrize("odd", ODD)
@pytest.mark.parametrize("key", ["type", "text", "data", "mimeType", "_meta", "annotations"])
def test_no_block_is_odd_enough_to_break_a_result(odd: Any, key: str):
    """Whatever a server writes in whichever place, the other blocks stay."""
    for block in [*BLOCKS, odd]:
        strange = {**block, key: odd} if isinstance(block, dict) else block
        output = output_of({"content": [strange, {"type": "text", "text": "stays"}]})
        assert output.success
        assert len(output.parts) == 2
        assert output.text.endswith("stays")
        shown = call_result(outcome(output), modern=False)
        assert len(shown["content"]) == 2


@pytest.mark.parametrize("meta", [None, 5, [1], "x", {}])
def test_meta_that_is_none(meta: Any):
    assert output_of({"content": [], "_meta": meta}).meta == {}


def test_a_server_does_not_speak_in_our_name():
    """Clients believe what stands under these keys."""
    meta = {"toolcrib/error": {"code": "held"}, "toolcrib/truncated": True, "theirs/x": 1}
    for failed in (False, True):
        output = output_of({"content": [], "_meta": meta, "isError": failed})
        assert output.meta == {"theirs/x": 1}


def test_a_result_of_very_many_parts_is_cut():
    block = {"type": "text", "text": "x"}
    whole = output_of({"content": [block] * MOST_PARTS})
    more = output_of({"content": [block] * (MOST_PARTS + 1)})
    assert [len(whole.parts), len(more.parts)] == [MOST_PARTS, MOST_PARTS]
    assert (whole.truncated, more.truncated) == (False, True)
