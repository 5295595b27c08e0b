"""This module says how the values of `name=value` pairs are written, in a form and in a query."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TypeVar
from urllib.parse import unquote_plus

from toolcrib.sources.http.holes import json_writers
from toolcrib.sources.http.words import Writer, percent

Piece = TypeVar("Piece")


def split_pairs(pieces: Sequence[str | Piece]) -> list[list[str | Piece]]:
    """The pieces of each pair; the `&` before a pair is its own first piece."""
    pairs: list[list[str | Piece]] = [[]]
    for piece in pieces:
        if not isinstance(piece, str):
            pairs[-1].append(piece)
            continue
        for number, text in enumerate(piece.split("&")):
            if number:
                pairs.append(["&"])
            pairs[-1].append(text)
    return pairs


def pair_writers(pair: Sequence[object]) -> list[Writer]:
    """How a value is written into each hole of a pair. What is no text is a hole."""
    parts = [piece if isinstance(piece, str) else None for piece in pair]
    head = next((n for n, part in enumerate(parts) if part is not None and "=" in part), None)
    if head is None:
        return [percent] * parts.count(None)
    start = str(parts[head]).partition("=")[2]
    return [percent] * parts[:head].count(None) + value_writers([start, *parts[head + 1 :]])


def value_writers(parts: Sequence[str | None]) -> list[Writer]:
    """The same for the value of a pair alone. None is a hole."""
    inner = json_writers([None if part is None else unquote_plus(part) for part in parts])
    if inner is None:
        return [percent] * parts.count(None)
    return [_within(write) for write in inner]


def _within(write: Writer) -> Writer:
    return lambda value: percent(write(value))
