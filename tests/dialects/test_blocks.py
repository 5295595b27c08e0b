"""An Output as a message: what a model reads, and what code finds in the artifact."""

from __future__ import annotations

from toolcrib.dialects.blocks import artifact, content
from toolcrib.invocation.flight import Outcome
from toolcrib.tools.result import BlobPart, JsonPart, Output, TextPart

PICTURE = BlobPart("image", b"\x89PNG", "image/png")


def test_text_is_one_string():
    """Text parts are joined, as every surface joins them."""
    assert content(Output(parts=(TextPart("a"), TextPart("b")))) == "a\nb"


def test_nothing_is_an_empty_string():
    """A tool that answers nothing gives a message without content."""
    assert content(Output()) == ""


def test_structured_value_alone_is_shown_as_json():
    """A model must not miss a result that has no text."""
    assert content(Output(structured={"n": 1})) == '{"n":1}'


def test_pictures_are_blocks():
    """LangChain's standard image block, with text around it."""
    assert content(Output(parts=(TextPart("look"), PICTURE))) == [
        {"type": "text", "text": "look"},
        {"type": "image", "base64": "iVBORw==", "mime_type": "image/png"},
    ]


def test_other_files_are_named():
    """Models refuse sounds and files in a tool's message, so they are told of them."""
    output = Output(parts=(BlobPart("file", b"12345", "text/csv", name="a.csv"),))
    assert content(output) == "[file a.csv, text/csv, 5 bytes]"


def test_passed_through_blocks_are_json():
    """A resource link is shown as what it is."""
    assert content(Output(parts=(JsonPart({"type": "resource_link", "uri": "x:y"}),))) == (
        '{"type":"resource_link","uri":"x:y"}'
    )


def test_artifact_is_what_rest_answers():
    """Code gets the whole result, not only the text."""
    outcome = Outcome(
        call_id="call_1",
        tool="draw",
        ref="native:art/draw",
        arguments={},
        output=Output(parts=(PICTURE,), structured=[1]),
        duration_ms=1.5,
    )
    assert artifact(outcome) == {
        "call_id": "call_1",
        "success": True,
        "text": "",
        "content": [{"type": "image", "data": "iVBORw==", "mimeType": "image/png"}],
        "structured": [1],
        "error": None,
        "truncated": False,
        "duration_ms": 1.5,
    }


def test_artifact_of_a_call_that_was_not_made():
    """There is no call_id then, and the error says why."""
    made = artifact(Output.failed("not_granted", "No."))
    assert made["call_id"] is None
    assert made["error"] == {"code": "not_granted", "message": "No."}
    assert made["success"] is False
