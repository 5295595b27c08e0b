"""This module tells what kind of text a body is: by its Content-Type, else by how it begins.

The kind decides how values are written into a template. So a template that is JSON to a server that
asks no Content-Type is JSON here as well, and no value can add a field to it.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Final, Literal

from toolcrib.sources.http.holes import begins_like_json, json_writers
from toolcrib.sources.http.slots import Stored

Kind = Literal["json", "form", "xml", "text"]

JSON: Final = "application/json"
FORM: Final = "application/x-www-form-urlencoded"
TEXT: Final = "text/plain; charset=utf-8"
TYPES: Final[dict[Kind, str]] = {"json": JSON, "form": FORM, "xml": "application/xml", "text": TEXT}
"""What a body of each kind is sent as when its author names no type."""

_JSON = frozenset(
    {JSON, "text/json", "application/x-json", "text/x-json", "application/csp-report"}
    | {"application/json-rpc", "application/jsonrequest", "application/json5"}
    | {"application/x-amz-json-1.0", "application/x-amz-json-1.1"}
)
_LINES = frozenset(
    {"application/json-seq", "application/json-lines", "application/x-json-stream"}
    | {f"{top}/{x}{name}" for top in ("application", "text") for x in ("", "x-")
       for name in ("ndjson", "jsonl", "jsonlines")}
)  # fmt: skip
_XML = frozenset({"text/xml", "application/xml", "text/html"})
_XML_HEAD = re.compile(r"<[A-Za-z_?!]")
_FORM = re.compile(r"[^\s=&<>{}\"]+=[^\s=&<>\"]*(?:&[^\s=&<>{}\"]+=[^\s=&<>\"]*)*")


def media_type(content_type: str) -> str:
    """`application/json`, without parameters, in lower case."""
    return content_type.partition(";")[0].strip().lower()


def is_json(content_type: str) -> bool:
    """Whether it is JSON: one value, or several in lines or in a sequence."""
    kind = media_type(content_type)
    return kind in _JSON or kind.endswith("+json") or is_json_lines(content_type)


def is_json_lines(content_type: str) -> bool:
    """Whether it is a JSON value in each line, or a sequence of them."""
    kind = media_type(content_type)
    return kind in _LINES or kind.endswith("+json-seq")


def is_form(content_type: str) -> bool:
    return media_type(content_type) == FORM


def is_xml(content_type: str) -> bool:
    kind = media_type(content_type)
    return kind in _XML or kind.endswith("+xml")


def kind_of(content_type: str, pieces: Sequence[object]) -> Kind:
    """`pieces` are the template's, of slots.py; what is no text is a hole."""
    if is_json(content_type):
        return "json"
    if is_form(content_type):
        return "form"
    if is_xml(content_type):
        return "xml"
    parts = [_part(piece) for piece in pieces]
    if content_type:
        return "text" if json_writers(parts) is None else "json"
    if begins_like_json(parts):
        return "json"
    text = "".join("x" if part is None else part for part in parts).strip()
    if _XML_HEAD.match(text):
        return "xml"
    return "form" if _FORM.fullmatch(text) else "text"


def _part(piece: object) -> str | None:
    if isinstance(piece, Stored):
        return piece.text
    return piece if isinstance(piece, str) else None
