"""This module reads slots, the holes that a call's arguments fill: `{name}`.

An author's text is cut once, first at its placeholders and then at its slots; the two are of
different types from then on. `${X}` is no slot `X`, `{{x}}` and `{not a name}` are text, and so
are the braces of a JSON body.
"""

from __future__ import annotations

import re
from collections.abc import Container, Iterable, Mapping
from dataclasses import dataclass

from toolcrib.secrets.placeholders import Language, Placeholder, Template, value_of

_IDENTIFIER = re.compile(r"[A-Za-z_][A-Za-z0-9_]*", re.ASCII)
_TOKEN = re.compile(r"\$?\{\{[^{}]*\}\}|\$\{[^{}]*\}|\{([^{}\s\"':,]+)\}")


@dataclass(frozen=True, slots=True)
class Slot:
    """A hole for the argument of that name."""

    name: str


@dataclass(frozen=True, slots=True)
class Stored:
    """A setting's or secret's value in its place: never read again, shown as `***`."""

    text: str

    def __repr__(self) -> str:
        return "Stored('***')"


Read = tuple[str | Placeholder | Slot, ...]
"""An author's text, read once."""

Filled = tuple[str | Stored | Slot, ...]
"""The same with the stored values in place: only slots are open."""


def read_text(text: str, language: Language, *, known: Container[str] | None = None) -> Read:
    """Cut a text at its placeholders and slots.

    With `known`, exactly these names are slots and other braces are text; without, every
    identifier in braces is one.
    """
    pieces: list[str | Placeholder | Slot] = []
    for piece in Template.of(text, language).pieces:
        if isinstance(piece, Placeholder):
            pieces.append(piece)
        else:
            pieces += _cut(piece, known)
    return tuple(pieces)


def _cut(text: str, known: Container[str] | None) -> Iterable[str | Slot]:
    last = 0
    for match in _TOKEN.finditer(text):
        name = match[1]
        if name is None or not _is_slot(name, known):
            continue
        if match.start() > last:
            yield text[last : match.start()]
        yield Slot(name)
        last = match.end()
    if last < len(text):
        yield text[last:]


def _is_slot(name: str, known: Container[str] | None) -> bool:
    return name in known if known is not None else _IDENTIFIER.fullmatch(name) is not None


def slot_names(pieces: Iterable[object]) -> tuple[str, ...]:
    """The names of the slots, in order, each once."""
    return tuple(dict.fromkeys(p.name for p in pieces if isinstance(p, Slot)))


def placeholder_names(pieces: Iterable[object]) -> frozenset[str]:
    """The names of the placeholders."""
    return frozenset(piece.name for piece in pieces if isinstance(piece, Placeholder))


@dataclass(frozen=True, slots=True)
class Values:
    """Resolved settings or secrets by name, ready to be put in place."""

    by_name: Mapping[str, str]
    language: Language

    def place(self, pieces: Read, where: str) -> Filled:
        """Raises UnresolvedPlaceholderError that names the value and the place."""
        return tuple(
            Stored(value_of(p, self.by_name, self.language, where=where))
            if isinstance(p, Placeholder)
            else p
            for p in pieces
        )

    def __repr__(self) -> str:
        return f"Values({sorted(self.by_name)})"


def plain_text(pieces: Filled) -> str:
    """The text of pieces that have no slot."""
    return "".join(
        piece.text if isinstance(piece, Stored) else piece
        for piece in pieces
        if not isinstance(piece, Slot)
    )
