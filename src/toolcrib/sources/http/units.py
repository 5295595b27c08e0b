"""This module takes a template apart into characters that know where they came from.

A URL's structure is found over the author's text and stored values together, while slots stay
whole and every character remembers whether it may be shown.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from toolcrib.sources.http.segments import Piece
from toolcrib.sources.http.slots import Filled, Slot, Stored


@dataclass(frozen=True, slots=True)
class Unit:
    """One character of a template, or one slot.

    `stored` is 0 for the author's own text, else the number of the stored value it came from.
    """

    char: str
    stored: int = 0
    slot: str | None = None


def units_of(pieces: Filled) -> list[Unit]:
    units: list[Unit] = []
    for number, piece in enumerate(pieces, start=1):
        if isinstance(piece, Slot):
            units.append(Unit("", slot=piece.name))
        elif isinstance(piece, Stored):
            units += [Unit(char, stored=number) for char in piece.text.strip()]
        else:
            units += [Unit(char) for char in piece]
    return units


def stripped(units: list[Unit]) -> list[Unit]:
    start, end = 0, len(units)
    while start < end and units[start].char.isspace():
        start += 1
    while end > start and units[end - 1].char.isspace():
        end -= 1
    return units[start:end]


def pieces_of(units: Sequence[Unit]) -> list[Piece]:
    """Runs of characters of one origin, and slots."""
    pieces: list[Piece] = []
    run, stored = "", 0
    for unit in units:
        if run and (unit.slot or unit.stored != stored):
            pieces.append(Stored(run) if stored else run)
            run = ""
        if unit.slot:
            pieces.append(Slot(unit.slot))
        else:
            run, stored = run + unit.char, unit.stored
    if run:
        pieces.append(Stored(run) if stored else run)
    return pieces


def cut(units: list[Unit], ends: str) -> tuple[list[Unit], list[Unit]]:
    at = next((n for n, unit in enumerate(units) if unit.char and unit.char in ends), len(units))
    return units[:at], units[at:]


def partition(units: list[Unit], mark: str) -> tuple[list[Unit], bool, list[Unit]]:
    head, tail = cut(units, mark)
    return head, bool(tail), tail[1:]


def split(units: list[Unit], mark: str) -> list[list[Unit]]:
    parts: list[list[Unit]] = [[]]
    for unit in units:
        if unit.char == mark:
            parts.append([])
        else:
            parts[-1].append(unit)
    return parts
