"""This module compiles a template that is JSON text: its quotes say what a hole has to become."""

from __future__ import annotations

import re

from toolcrib.errors import InvalidOptions
from toolcrib.sources.http.holes import HOLE, string_writers
from toolcrib.sources.http.slots import Filled, Slot, Stored
from toolcrib.sources.http.words import Writer, json_text, json_value

_TOKENS = re.compile(r'(\\.|")', re.DOTALL)
_ODD = re.compile(r"[^\s\[\]{}:,0-9A-Za-z+.\-\ufeff\x1e]")
"""What JSON has nowhere but in its strings: other quotes, comments, backslashes."""

Written = tuple[str | Stored | Slot, Writer]
"""A piece of a template with the way it is written."""


def json_writings(pieces: Filled, where: str) -> list[Written]:
    """The pieces, each with its writer. Raises InvalidOptions for a hole that has no safe place."""
    text = _Text(where)
    for piece in pieces:
        if isinstance(piece, str):
            text.read(piece)
        else:
            text.fill(piece)
    text.require_plain()
    return text.written


class _Text:
    """What was read of a template so far, and the string that is open behind it."""

    def __init__(self, where: str) -> None:
        self.written: list[Written] = []
        self._where = where
        self._string: list[str] | None = None
        self._holes: list[int] = []
        self._escaped = False
        self._odd = ""
        self._filled = False

    def read(self, literal: str) -> None:
        self.written.append((literal, str))
        for number, part in enumerate(_TOKENS.split(literal)):
            if part == '"':
                self._turn()
            elif self._string is not None:
                self._string.append(part.replace(HOLE, " "))
                self._escaped = not number % 2 and part.endswith("\\")
            elif odd := _ODD.search(part):
                self._odd = self._odd or odd[0]

    def fill(self, hole: Stored | Slot) -> None:
        self._filled = True
        if self._escaped:
            raise InvalidOptions(
                "A slot or placeholder stands behind a backslash in the JSON text.",
                where=self._where,
            )
        if self._string is None:
            write = json_value if isinstance(hole, Stored) else json_text
            self.written.append((hole, write))
            return
        self._string.append(HOLE)
        self._holes.append(len(self.written))
        self.written.append((hole, str))

    def require_plain(self) -> None:
        """Where something is filled in, everybody must read the same strings: also lenient readers,
        which know other quotes and comments. Raises InvalidOptions."""
        if self._string is not None:
            self._turn()
        if self._filled and self._odd:
            raise InvalidOptions(
                f"The JSON text has {self._odd!r} outside of a string.",
                where=self._where,
                hint="Write strict JSON; if it is no JSON, a Content-Type header says what it is.",
            )

    def _turn(self) -> None:
        """A string begins, or ends: one that is JSON itself is filled as JSON."""
        if self._string is None:
            self._string = []
            return
        writers = string_writers("".join(self._string))
        for place, write in zip(self._holes, writers, strict=True):
            self.written[place] = (self.written[place][0], write)
        self._string, self._holes = None, []
