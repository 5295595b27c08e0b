"""This module compiles a template that is JSON text: its quotes say what a hole has to become."""

from __future__ import annotations

import json
import re
from collections.abc import Sequence

from toolcrib.errors import InvalidOptions
from toolcrib.sources.http.holes import json_writers
from toolcrib.sources.http.slots import Filled, Slot, Stored
from toolcrib.sources.http.words import Writer, json_content, json_text, json_value

_TOKENS = re.compile(r'(\\.|")', re.DOTALL)

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
    return text.written


class _Text:
    """What was read of a template so far, and the string that is open behind it."""

    def __init__(self, where: str) -> None:
        self.written: list[Written] = []
        self._where = where
        self._string: list[str | None] | None = None
        self._holes: list[int] = []
        self._escaped = False

    def read(self, literal: str) -> None:
        self.written.append((literal, str))
        for number, part in enumerate(_TOKENS.split(literal)):
            if part == '"':
                self._turn()
            elif self._string is not None:
                self._string.append(part)
                self._escaped = not number % 2 and part.endswith("\\")

    def fill(self, hole: Stored | Slot) -> None:
        if self._escaped:
            raise InvalidOptions(
                "A slot or placeholder stands behind a backslash in the JSON text.",
                where=self._where,
            )
        if self._string is None:
            write = json_value if isinstance(hole, Stored) else json_text
            self.written.append((hole, write))
            return
        self._string.append(None)
        self._holes.append(len(self.written))
        self.written.append((hole, json_content))

    def _turn(self) -> None:
        """A string begins, or ends: one that is JSON itself is filled as JSON."""
        if self._string is None:
            self._string = []
            return
        inner = json_writers(_unescaped(self._string)) if self._holes else None
        for place, write in zip(self._holes, inner or (), strict=inner is not None):
            self.written[place] = (self.written[place][0], _within(write))
        self._string, self._holes = None, []


def _within(write: Writer) -> Writer:
    return lambda value: json_content(write(value))


def _unescaped(parts: Sequence[str | None]) -> list[str | None]:
    """The parts of a JSON string as they read, runs of text joined."""
    runs: list[str | None] = []
    for part in parts:
        if part is not None and runs and runs[-1] is not None:
            runs[-1] += part
        else:
            runs.append(part)
    return [None if run is None else _read(run) for run in runs]


def _read(text: str) -> str:
    try:
        return json.loads(f'"{text}"', strict=False)
    except ValueError:
        return text
