"""This module gives each stored value its place in a URL: an address, or data.

A value that begins the URL, or its host, is an address: it may hold a host, a port, a path and a
query, and nothing that its author put behind it may land elsewhere for it. Any other value is data:
in the path it may be several segments, in the query it is one text, in the place of a whole pair
(`?${PAIRS}`) it may be several pairs. Data is encoded here and ends no part of the URL.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace
from urllib.parse import quote

from toolcrib.errors import InvalidOptions
from toolcrib.sources.http.slots import Filled, Slot, Stored
from toolcrib.sources.http.units import Unit
from toolcrib.sources.http.words import percent

_PATH = "/:@!$&'()*+,="
_PAIRS = "!$&'()*+,;=:@/?%"
_LONE_PERCENT = re.compile(r"%(?![0-9A-Fa-f]{2})")
_PLACE = re.compile(r"[^:/?#]*:[/\\\\]{2}[^/?#\\\\]*")


def placed(pieces: Filled) -> Filled:
    """The pieces with every value that is data encoded for where it stands."""
    seen = ""
    found: list[str | Stored | Slot] = []
    for number, piece in enumerate(pieces):
        if isinstance(piece, Stored):
            piece = _in_place(piece, seen, pieces[number + 1 : number + 2])  # noqa: PLW2901
        found.append(piece)
        seen += text_at(piece)
    return tuple(found)


def text_at(piece: str | Stored | Slot) -> str:
    """The text of a piece; a slot is some letter."""
    if isinstance(piece, Slot):
        return "x"
    return piece if isinstance(piece, str) else piece.text.strip()


def _in_place(value: Stored, seen: str, following: Sequence[object]) -> Stored:
    start = seen.lstrip()
    place = _PLACE.match(start)
    if place is None or place.end() == len(start):
        return value
    rest = start[place.end() :]
    text = value.text.strip()
    if "?" not in rest:
        return replace(value, text=quote(text, safe=_PATH))
    behind = following[0] if following else "&"
    if rest[-1] in "?&" and isinstance(behind, str) and behind[:1] in {"&", "#"}:
        return replace(value, text=quote(_LONE_PERCENT.sub("%25", text), safe=_PAIRS))
    return replace(value, text=percent(text))


def require_order(rest: Sequence[Unit], where: str) -> None:
    """`rest` is the URL behind its host: what its author wrote stays where they wrote it.

    Raises InvalidOptions where a stored value begins the query or the fragment before that.
    """
    mark = next((unit for unit in rest if unit.char in {"?", "#"}), None)
    if mark is None:
        return
    behind = rest[rest.index(mark) + 1 :]
    if mark.char == "?":
        cut = next((n for n, unit in enumerate(behind) if unit.char == "#"), len(behind))
        _require_in_query(mark, behind[:cut], where)
        if cut == len(behind):
            return
        mark, behind = behind[cut], behind[cut + 1 :]
    if mark.stored and any(unit.stored != mark.stored for unit in behind):
        raise _early("#", "would be cut off", where)


def _require_in_query(mark: Unit, query: Sequence[Unit], where: str) -> None:
    if not mark.stored:
        return
    for unit in query:
        if unit.stored == 0 and unit.char == "&":
            return
        if unit.stored == 0 and unit.char in {"/", "?"}:
            raise _early("?", "would be part of its query", where)


def _early(char: str, what: str, where: str) -> InvalidOptions:
    return InvalidOptions(
        f"A stored value in the url holds {char!r}, so the text behind it {what}.",
        where=where,
        hint="Store the address up to its path alone.",
    )
