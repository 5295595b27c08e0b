"""Whatever a tool returns becomes an Output: text, JSON, parts."""

from __future__ import annotations

import base64
import enum
import json
from dataclasses import dataclass
from datetime import UTC, datetime
from decimal import Decimal
from pathlib import PurePosixPath
from typing import Any
from uuid import UUID

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import BaseModel

from tests.sources.native.calls import run
from toolcrib.sources.native.outputs import output_of
from toolcrib.tools.result import BlobPart, JsonPart, Output, TextPart

PNG = b"\x89PNG\r\n"
CODED = base64.b64encode(PNG).decode()


class Row(BaseModel):
    at: datetime
    n: int = 1


@dataclass
class Point:
    x: int
    y: Row | None = None


class Color(enum.Enum):
    RED = "red"


def of(value: Any) -> Output:
    return output_of(value, tool="t")


@pytest.mark.parametrize(
    ("value", "text", "structured"),
    [
        ("plain", "plain", None),
        ("", "", None),
        (None, "", None),
        ({"a": 1}, '{"a":1}', {"a": 1}),
        ([1, "ä"], '[1,"ä"]', [1, "ä"]),
        ([], "[]", []),
        (["a", "b"], '["a","b"]', ["a", "b"]),
        ((1, 2), "[1,2]", [1, 2]),
        (3, "3", 3),
        (2.5, "2.5", 2.5),
        (True, "true", True),
        (Row(at=datetime(2026, 1, 2, tzinfo=UTC)), None, {"at": "2026-01-02T00:00:00Z", "n": 1}),
        ([Point(1)], '[{"x":1,"y":null}]', [{"x": 1, "y": None}]),
        ({1: {"b"}}, '{"1":["b"]}', {"1": ["b"]}),
        (Color.RED, '"red"', "red"),
        ({"d": Decimal("1.50"), "p": PurePosixPath("/x")}, None, {"d": "1.50", "p": "/x"}),
        (UUID(int=1), None, "00000000-0000-0000-0000-000000000001"),
        ({"n": 2**70}, None, {"n": float(2**70)}),
        ({"nan": float("nan")}, '{"nan":null}', {"nan": None}),
        ({"b": b"raw\xff"}, None, {"b": "raw\ufffd"}),
        ([{"type": "row", "n": 1}], '[{"type":"row","n":1}]', [{"type": "row", "n": 1}]),
        ([{"type": "text"}], '[{"type":"text"}]', [{"type": "text"}]),
    ],
    ids=repr,
)
def test_values_become_text_and_json(value: Any, text: str | None, structured: Any) -> None:
    """Text stays text; what JSON can say is both."""
    output = of(value)
    assert (output.error, output.structured) == (None, structured)
    if text is None:
        assert json.loads(output.text) == structured
    else:
        assert output.text == text


def test_what_json_cannot_say_is_its_text() -> None:
    """No exception, whatever comes."""

    class Opaque:
        def __repr__(self) -> str:
            return "<opaque>"

    loop: list[Any] = []
    loop.append(loop)
    assert (of(Opaque()).text, of(Opaque()).structured) == ("<opaque>", None)
    assert (of(loop).text, of(loop).structured) == ("[[...]]", None)


def test_the_structured_value_is_a_copy() -> None:
    """What the tool does to its object afterwards changes nothing."""
    value = {"a": [1]}
    output = of(value)
    value["a"].append(2)
    assert output.structured == {"a": [1]}


def test_bytes_become_a_file() -> None:
    """Exact, of no particular type."""
    assert of(PNG).parts == (BlobPart("file", PNG, "application/octet-stream"),)
    assert of(bytearray(PNG)).parts == of(PNG).parts


@pytest.mark.parametrize(
    ("block", "part"),
    [
        ({"type": "text", "text": "t"}, TextPart("t")),
        (
            {"type": "image", "base64": CODED, "mime_type": "image/jpeg"},
            BlobPart("image", PNG, "image/jpeg"),
        ),
        (
            {"type": "image", "source_type": "base64", "data": CODED, "mime_type": "image/png"},
            BlobPart("image", PNG, "image/png"),
        ),
        (
            {
                "type": "image",
                "source": {"type": "base64", "media_type": "image/gif", "data": CODED},
            },
            BlobPart("image", PNG, "image/gif"),
        ),
        (
            {"type": "image_url", "image_url": {"url": f"data:image/webp;base64,{CODED}"}},
            BlobPart("image", PNG, "image/webp"),
        ),
        (
            {"type": "image", "data": CODED, "mimeType": "image/x"},
            BlobPart("image", PNG, "image/x"),
        ),
        ({"type": "audio", "base64": CODED}, BlobPart("audio", PNG, "audio/wav")),
        (
            {"type": "file", "base64": CODED, "filename": "a.pdf", "mime_type": "application/pdf"},
            BlobPart("file", PNG, "application/pdf", name="a.pdf"),
        ),
        (
            {"type": "image", "url": "https://x.example/a.png"},
            JsonPart({"type": "image", "url": "https://x.example/a.png"}),
        ),
        (
            {"type": "image", "base64": "not base64!"},
            JsonPart({"type": "image", "base64": "not base64!"}),
        ),
        (
            {"type": "search_result", "title": "T"},
            JsonPart({"type": "search_result", "title": "T"}),
        ),
    ],
    ids=lambda v: str(v)[:40],
)
def test_content_blocks_become_parts(block: dict[str, Any], part: Any) -> None:
    """Every spelling of text, images, sounds and files; the rest as it is."""
    output = of([block, "between", block])
    assert list(output.parts) == [part, TextPart("between"), part]
    assert output.structured is None


def test_an_output_of_ours_is_kept() -> None:
    """A tool may answer with the finished thing."""
    output = Output.failed("rate_limited", "later")
    assert of(output) is output


async def test_a_tools_own_failed_output_is_its_result() -> None:
    """Through a call as well."""

    async def busy() -> Output:
        return Output.failed("rate_limited", "later")

    output = await run(busy)
    assert output.error is not None
    assert (output.error.code, output.text) == ("rate_limited", "later")


_json = st.recursive(
    st.none()
    | st.booleans()
    | st.integers(-(2**53), 2**53)
    | st.text()
    | st.floats(allow_nan=False, allow_infinity=False),
    lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner),
    max_leaves=10,
)


@given(_json)
def test_json_values_come_back_equal(value: Any) -> None:
    """Text and structured say the same; a lone surrogate may not survive, nothing else is lost."""
    output = of(value)
    if isinstance(value, str):
        assert output.text == value
    elif value is not None and not any(
        isinstance(part, BlobPart | JsonPart) for part in output.parts
    ):
        try:
            json.dumps(value, ensure_ascii=False).encode()
        except UnicodeEncodeError:
            return
        assert output.structured == value
        assert json.loads(output.text) == value
