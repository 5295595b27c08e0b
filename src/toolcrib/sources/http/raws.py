"""This module compiles a body template that is text: a form, JSON, XML, or anything else.

The Content-Type decides how a value is written, so that it cannot leave its place. In JSON a slot
between quotes becomes the content of that string; a slot without quotes becomes one JSON value.
Stored values are escaped like arguments.
"""

from __future__ import annotations

import re
from collections.abc import Callable

import orjson

from toolcrib.errors import InvalidOptions
from toolcrib.sources.http.slots import Filled, Slot, Stored
from toolcrib.sources.http.styles import Arguments
from toolcrib.sources.http.words import (
    Writer,
    json_content,
    json_text,
    percent,
    text_of,
    xml_content,
)

_CHARSET = re.compile(r"""charset\s*=\s*["']?([^\s"';,]+)""", re.IGNORECASE)

TextMaker = Callable[[Arguments], str]


def media_type(content_type: str) -> str:
    """`application/json`, without parameters, in lower case."""
    return content_type.partition(";")[0].strip().lower()


def is_json(content_type: str) -> bool:
    kind = media_type(content_type)
    return kind in {"application/json", "text/json"} or kind.endswith("+json")


def is_form(content_type: str) -> bool:
    return media_type(content_type) == "application/x-www-form-urlencoded"


def is_xml(content_type: str) -> bool:
    kind = media_type(content_type)
    return kind in {"text/xml", "application/xml", "text/html"} or kind.endswith("+xml")


def escapes(content_type: str) -> bool:
    """Whether values are escaped in a body of this type."""
    return is_json(content_type) or is_form(content_type) or is_xml(content_type)


def charset_of(content_type: str) -> str:
    """The charset that the Content-Type names; UTF-8 where it names none we know."""
    named = _CHARSET.search(content_type)
    try:
        "".encode(named[1] if named else "utf-8")
    except (LookupError, ValueError):
        return "utf-8"
    return named[1] if named else "utf-8"


def encoded(text: str, content_type: str) -> bytes:
    """The text in the charset of the Content-Type."""
    charset = charset_of(content_type)
    foreign = is_xml(content_type) and charset != "utf-8"
    return text.encode(charset, "xmlcharrefreplace" if foreign else "strict")


def compile_raw(pieces: Filled, content_type: str, *, where: str) -> TextMaker:
    """A maker of the body's text. Raises InvalidOptions for a slot that has no safe place."""
    if is_json(content_type):
        return _joined(_json_steps(pieces, where))
    write = text_of
    if is_form(content_type):
        write = percent
    elif is_xml(content_type):
        write = xml_content
    return _joined([_step(piece, write) for piece in pieces])


def _joined(steps: list[str | TextMaker]) -> TextMaker:
    return lambda arguments: "".join(
        step if isinstance(step, str) else step(arguments) for step in steps
    )


def _step(piece: str | Stored | Slot, write: Writer) -> str | TextMaker:
    if isinstance(piece, str):
        return piece
    if isinstance(piece, Stored):
        return write(piece.text)
    name = piece.name
    return lambda arguments: write(arguments.get(name))


def _json_steps(pieces: Filled, where: str) -> list[str | TextMaker]:
    """Read the author's text for its quotes: they say what a hole has to become."""
    steps: list[str | TextMaker] = []
    quoted = escaped = False
    for piece in pieces:
        if isinstance(piece, str):
            quoted, escaped = _after(piece, quoted, escaped)
            steps.append(piece)
        elif escaped:
            raise InvalidOptions(
                "A slot or placeholder stands behind a backslash in the JSON text.", where=where
            )
        elif quoted:
            steps.append(_step(piece, json_content))
        else:
            steps.append(_step(piece, _json_value if isinstance(piece, Stored) else json_text))
    return steps


def _after(text: str, quoted: bool, escaped: bool) -> tuple[bool, bool]:
    """Whether a JSON string is open behind the text, and whether a backslash is."""
    for char in text:
        if escaped:
            escaped = False
        elif char == '"':
            quoted = not quoted
        elif char == "\\":
            escaped = quoted
    return quoted, escaped


def _json_value(text: str) -> str:
    """A stored value outside quotes: itself where it is JSON, else a JSON string."""
    try:
        orjson.loads(text)
    except orjson.JSONDecodeError:
        return json_text(text)
    return text
