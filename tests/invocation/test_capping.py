"""What is cut is never larger than what was given, whatever its parts are."""

from __future__ import annotations

from dataclasses import replace

import pytest

from toolcrib.invocation.capping import LONGEST_MESSAGE, MOST_PARTS, capped
from toolcrib.tools.result import BlobPart, JsonPart, Output, Part, TextPart

TINY = {
    "text": TextPart("x"),
    "blob": BlobPart(kind="image", data=b"x", mime_type="image/png"),
    "other": JsonPart({"type": "x"}),
}


def told(output: Output) -> list[str]:
    return [part.text for part in output.parts if isinstance(part, TextPart)]


@pytest.mark.parametrize("kind", TINY)
def test_many_tiny_parts_end_in_one_line(kind: str) -> None:
    output = capped(Output(parts=(TINY[kind],) * 5000), 100)
    assert len(output.parts) <= 102
    assert told(output)[-1].startswith("[left out: ")
    assert told(output)[-1].endswith("bytes]")
    assert output.truncated


def test_the_line_counts_what_is_behind_it() -> None:
    output = capped(Output(parts=(TextPart("a" * 90), *[TextPart("b" * 20)] * 3)), 100)
    assert told(output) == [
        "a" * 90,
        "b" * 10 + "\n[cut: 20 bytes in all, 10 shown]",
        "[left out: 2 more parts of 40 bytes]",
    ]


def test_what_fits_behind_a_blob_that_does_not_stays() -> None:
    blob = BlobPart(kind="image", data=b"x" * 5000, mime_type="image/png")
    parts: tuple[Part, ...] = (TextPart("before"), blob, TextPart("behind"))
    output = capped(Output(parts=parts), 1000)
    assert told(output) == ["before", "[left out: image of 5000 bytes]", "behind"]


def test_parts_that_hold_nothing_are_counted() -> None:
    """Their envelopes alone would be a large answer."""
    output = capped(Output(parts=(TextPart(""),) * (MOST_PARTS + 5)), 1000)
    assert len(output.parts) == MOST_PARTS + 1
    assert told(output)[-1] == "[left out: 5 more parts of 0 bytes]"
    assert output.truncated


def test_what_fits_is_the_same_object() -> None:
    output = Output(parts=(TextPart("x"),) * MOST_PARTS)
    assert capped(output, 20_000) is output


@pytest.mark.parametrize("parts", [(), (TextPart("x"),)], ids=["alone", "beside content"])
def test_an_errors_message_is_cut(parts: tuple[Part, ...]) -> None:
    """It is kept of each call, however much a server had to say."""
    failed = replace(Output.failed("tool_error", "long " * 100_000), parts=parts)
    output = capped(failed, 1_000_000)
    assert output.error is not None
    assert output.error.message.startswith("long long ")
    assert output.error.message.endswith("\n[cut: 500000 characters in all]")
    assert len(output.error.message) < LONGEST_MESSAGE + 50
    assert output.truncated
