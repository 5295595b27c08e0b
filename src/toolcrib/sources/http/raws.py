"""This module compiles a body template that is text: a form, JSON, XML, or anything else.

Its kind (kinds.py) decides how a value is written, so that it cannot leave its place. In JSON a
slot between quotes becomes the content of that string; a slot without quotes becomes one JSON
value. A field of a form and a string of JSON may be JSON once more. Stored values are escaped like
arguments.
"""

from __future__ import annotations

import re
from codecs import lookup
from collections.abc import Callable

from toolcrib.sources.http.json_texts import Written, json_writings
from toolcrib.sources.http.kinds import is_json_lines, is_xml, kind_of
from toolcrib.sources.http.pairs import pair_writers, split_pairs
from toolcrib.sources.http.slots import Filled, Slot, Stored
from toolcrib.sources.http.styles import Arguments
from toolcrib.sources.http.words import Writer, text_of
from toolcrib.sources.http.xml_texts import xml_writings

_CHARSET = re.compile(r"""charset\s*=\s*["']?([^\s"';,]+)""", re.IGNORECASE)

_PYTHONS_OWN = frozenset({"unicode-escape", "raw-unicode-escape", "punycode", "idna"})
"""Codecs that are no charsets: what they make of an escaped text is escaped no more."""

_LINE_ENDS = {0x85: "\\u0085", 0x2028: "\\u2028", 0x2029: "\\u2029"}
"""What JSON leaves as it is and some readers take for the end of a line."""

TextMaker = Callable[[Arguments], str]


def charset_of(content_type: str) -> str:
    """The charset that the Content-Type names; UTF-8 where it names none we know."""
    named = _CHARSET.search(content_type)
    if named is None:
        return "utf-8"
    try:
        "".encode(named[1])
    except (LookupError, ValueError):
        return "utf-8"
    return "utf-8" if lookup(named[1]).name in _PYTHONS_OWN else named[1]


def encoded(text: str, content_type: str) -> bytes:
    """The text in the charset of the Content-Type."""
    charset = charset_of(content_type)
    foreign = is_xml(content_type) and charset != "utf-8"
    return text.encode(charset, "xmlcharrefreplace" if foreign else "strict")


def compile_raw(pieces: Filled, content_type: str, *, where: str) -> TextMaker:
    """A maker of the body's text. Raises InvalidOptions for a slot that has no safe place."""
    kind = kind_of(content_type, pieces)
    in_lines = is_json_lines(content_type)
    if kind == "json":
        return _joined(json_writings(pieces, where), in_lines=in_lines)
    if kind == "form":
        return _joined(_form_writings(pieces))
    if kind == "xml":
        return _joined(xml_writings(pieces))
    return _joined([(piece, text_of) for piece in pieces])


def _joined(written: list[Written], *, in_lines: bool = False) -> TextMaker:
    steps = [_step(piece, write) for piece, write in written]

    def make(arguments: Arguments) -> str:
        text = "".join(step if isinstance(step, str) else step(arguments) for step in steps)
        return text.translate(_LINE_ENDS) if in_lines else text

    return make


def _step(piece: str | Stored | Slot, write: Writer) -> str | TextMaker:
    if isinstance(piece, str):
        return piece
    if isinstance(piece, Stored):
        return write(piece.text)
    name = piece.name
    return lambda arguments: write(arguments.get(name))


def _form_writings(pieces: Filled) -> list[Written]:
    """A field of a form may be JSON itself, and is filled as JSON then."""
    written: list[Written] = []
    for pair in split_pairs(pieces):
        writers = iter(pair_writers(pair))
        written += [(piece, str if isinstance(piece, str) else next(writers)) for piece in pair]
    return written
