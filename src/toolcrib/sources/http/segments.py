"""This module compiles one segment of a path, or one side of a query pair.

A slot's value is percent-encoded with no safe characters, so it holds no `/`, `?`, `#`, `&` or
`=`; and no segment may come out as `.` or `..`, which servers and proxies take as steps. Stored
values were encoded for their place before (placing.py).
"""

from __future__ import annotations

import re
from collections.abc import Callable, Container, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import quote

from toolcrib.errors import InvalidArguments, InvalidOptions
from toolcrib.secrets.masking import MASK
from toolcrib.sources.http.pairs import value_writers
from toolcrib.sources.http.slots import Slot, Stored
from toolcrib.sources.http.styles import Arguments
from toolcrib.sources.http.words import percent

Piece = str | Stored | Slot

_KEPT = "!$&'()*+,;=:@/?-._~%"
_LONE_PERCENT = re.compile(r"%(?![0-9A-Fa-f]{2})")
_DOTS = frozenset({".", ".."})


def _missing(name: str) -> InvalidArguments:
    return InvalidArguments(f"missing required path parameter {name!r}")


@dataclass(frozen=True, kw_only=True, slots=True)
class SegmentRules:
    """What a URL needs to know of its slots.

    `required`: slots of the path that need a value; `query_required`: slots of the query that do.
    `writers`: how a path slot is written, where it is not plain percent-encoding.
    `drops_partial`: a query pair with text around its slot is left out with the argument; where
    it is false the slot is empty text.
    """

    required: Container[str] = ()
    query_required: Container[str] = ()
    writers: Mapping[str, Callable[[Any], str]] = field(
        default_factory=dict[str, Callable[[Any], str]]
    )
    drops_partial: bool = False
    missing: Callable[[str], InvalidArguments] = _missing


def compile_segment(
    pieces: Sequence[Piece], rules: SegmentRules, *, where: str, shown: bool
) -> str | Callable[[Arguments], str]:
    """One path segment: fixed text, or a writer that raises InvalidArguments.

    Raises InvalidOptions for a stored value that would take a step up.
    """
    if not any(isinstance(piece, Slot) for piece in pieces):
        fixed = "".join(_fixed(piece, shown=shown) for piece in pieces)
        if _is_step(fixed) and any(isinstance(piece, Stored) for piece in pieces):
            raise InvalidOptions(
                "A stored value makes '.' or '..' of a part of the url's path.", where=where
            )
        return fixed
    steps = [
        _path_slot(piece.name, rules) if isinstance(piece, Slot) else _fixed(piece, shown=shown)
        for piece in pieces
    ]
    if len(steps) == 1 and not isinstance(steps[0], str):
        return steps[0]
    names = [piece.name for piece in pieces if isinstance(piece, Slot)]

    def write(arguments: Arguments) -> str:
        text = "".join(step if isinstance(step, str) else step(arguments) for step in steps)
        if _is_step(text):
            raise dots_refused(names[0])
        return text

    return write


def compile_value(
    pieces: Sequence[Piece], rules: SegmentRules, *, shown: bool
) -> str | Callable[[Arguments], str]:
    """A key or value of the query: slots without a value are empty text."""
    if not any(isinstance(piece, Slot) for piece in pieces):
        return "".join(_fixed(piece, shown=shown) for piece in pieces)
    writers = iter(value_writers([_text(piece) for piece in pieces]))
    steps = [
        _text_slot(piece.name, rules, next(writers))
        if isinstance(piece, Slot)
        else _fixed(piece, shown=shown)
        for piece in pieces
    ]
    return lambda arguments: "".join(
        step if isinstance(step, str) else step(arguments) for step in steps
    )


def _is_step(text: str) -> bool:
    return len(text) <= 6 and text.lower().replace("%2e", ".") in _DOTS


def dots_refused(name: str) -> InvalidArguments:
    return InvalidArguments(
        f"The path parameter {name!r} may not be '.' or '..'.",
        hint="Give the id of one thing.",
    )


def _path_slot(name: str, rules: SegmentRules) -> Callable[[Arguments], str]:
    encode = rules.writers.get(name, percent)

    def write(arguments: Arguments) -> str:
        value = arguments.get(name)
        if value is None or value == "":
            if name in rules.required:
                raise rules.missing(name)
            return ""
        text = encode(value)
        if _is_step(text):
            raise dots_refused(name)
        return text

    return write


def _text_slot(
    name: str, rules: SegmentRules, encode: Callable[[Any], str]
) -> Callable[[Arguments], str]:
    def write(arguments: Arguments) -> str:
        value = arguments.get(name)
        if value is None and name in rules.query_required:
            raise rules.missing(name)
        return "" if value is None and encode is percent else encode(value)

    return write


def _text(piece: Piece) -> str | None:
    if isinstance(piece, Slot):
        return None
    return piece.text if isinstance(piece, Stored) else piece


def _fixed(piece: Piece, *, shown: bool) -> str:
    """Text of the author or of a stored value: as written, what no URL can hold encoded."""
    if isinstance(piece, Slot):
        return ""
    if isinstance(piece, Stored):
        return MASK if shown else _legal(piece.text)
    return _legal(piece)


def _legal(text: str) -> str:
    return quote(_LONE_PERCENT.sub("%25", text), safe=_KEPT)
