"""This module reads a URL template into its segments, and compiles it.

A stored value may hold whole parts of a URL where it begins one (placing.py); a slot stays inside
the one segment, query value or host label where its author put it. What leaves here is ready to
send: nothing downstream decodes, normalises or encodes it again.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from itertools import takewhile
from urllib.parse import unquote

from toolcrib.errors import InvalidOptions
from toolcrib.net.hosts import BadHost, canonical_host
from toolcrib.sources.http.hosts import FixedHost, Host, SlottedHost
from toolcrib.sources.http.placing import placed, require_order, text_at
from toolcrib.sources.http.query_pairs import Step, compile_pair
from toolcrib.sources.http.segments import SegmentRules, compile_segment
from toolcrib.sources.http.slots import Filled, Slot, Values, read_text
from toolcrib.sources.http.units import Unit, cut, partition, pieces_of, split, stripped, units_of

_PORTS = {"https": 443, "http": 80}
_CONTROL = re.compile(r"[\x00-\x1f\x7f]")


@dataclass(frozen=True, kw_only=True, slots=True)
class UrlPlan:
    """A compiled URL. `shown_path` and `shown_query` are the same with stored values as `***`."""

    host: Host
    path: tuple[Step, ...]
    query: tuple[Step, ...]
    shown_path: tuple[Step, ...]
    shown_query: tuple[Step, ...]

    def __repr__(self) -> str:
        return f"UrlPlan({self.shown_path}, {self.shown_query})"


def compile_url(pieces: Filled, rules: SegmentRules, *, where: str) -> UrlPlan:
    """Raises InvalidOptions that names the part which cannot be used."""
    if any(_CONTROL.search(text_at(piece)) for piece in pieces):
        raise InvalidOptions("The url holds a control character.", where=where)
    units = stripped(units_of(placed(pieces)))
    scheme, rest = _scheme(units, where)
    authority, rest = cut(rest, "/?#\\")
    if rest and rest[0].char == "\\":
        raise InvalidOptions("The url has a backslash behind its host.", where=where)
    _require_whole(rest, where)
    require_order(rest, where)
    target, _, fragment = partition(rest, "#")
    if any(unit.slot for unit in fragment):
        raise InvalidOptions("A slot behind # is never sent.", where=where)
    path, _, query = partition(target, "?")
    segments = split(path, "/")
    pairs = [pair for pair in split(query, "&") if pair]
    return UrlPlan(
        host=_host(scheme, authority, where),
        path=_path(segments, rules, where, shown=False),
        query=tuple(compile_pair(pair, rules, shown=False) for pair in pairs),
        shown_path=_path(segments, rules, where, shown=True),
        shown_query=tuple(compile_pair(pair, rules, shown=True) for pair in pairs),
    )


def address_of(text: str, values: Values, *, where: str) -> str:
    """An address without slots, with its stored values in their places, ready to be sent to.

    Raises UnresolvedPlaceholderError, or InvalidOptions for what is no address.
    """
    pieces = values.place(read_text(text, values.language, known=()), where)
    plan = compile_url(pieces, SegmentRules(), where=where)
    query = "&".join(step for step in plan.query if isinstance(step, str) and step)
    path = "".join(step for step in plan.path if isinstance(step, str))
    url = f"{plan.host.of({}).origin}{path}"
    return f"{url}?{query}" if query else url


def _scheme(units: list[Unit], where: str) -> tuple[str, list[Unit]]:
    head, colon, rest = partition(units, ":")
    scheme = "".join(unit.char for unit in head).lower()
    slashes = "".join(unit.char for unit in rest[:2])
    if not colon or slashes != "//" or any(unit.slot for unit in head):
        raise InvalidOptions(
            "The url does not start with https:// and a host.",
            where=where,
            hint="Write the whole address, such as https://api.example.com/v1.",
        )
    if scheme not in _PORTS:
        name = "its scheme" if any(unit.stored for unit in head) else f"the scheme {scheme!r}"
        raise InvalidOptions(f"The url cannot be used: {name} is not https.", where=where)
    return scheme, rest[2:]


def _require_whole(rest: list[Unit], where: str) -> None:
    """A stored value that ends the host must not push what stands behind it out of the host."""
    if not rest or not rest[0].stored:
        return
    own = list(takewhile(lambda unit: unit.stored == rest[0].stored, rest))
    following = rest[len(own)] if len(own) < len(rest) else None
    marks = "/?#&" if any(unit.char == "?" for unit in own) else "/?#"
    if following is not None and (following.slot or following.char not in marks):
        raise InvalidOptions(
            f"A stored value in the url's host holds {rest[0].char!r}, "
            "so the text behind it would not be part of the host.",
            where=where,
            hint="Store the host's name alone.",
        )


def _host(scheme: str, authority: list[Unit], where: str) -> Host:
    if any(unit.char == "@" for unit in authority):
        raise InvalidOptions(
            "The url has a user name or password before its host.",
            where=where,
            hint="Send credentials in a header.",
        )
    name, port = _port(authority, _PORTS[scheme], where)
    if any(unit.slot for unit in name):
        return SlottedHost.read(scheme, _labels(name, where), port, where=where)
    text = unquote("".join(unit.char for unit in name))
    try:
        host, _ = canonical_host(text)
    except BadHost as bad:
        shown = "that a stored value gives" if any(unit.stored for unit in name) else repr(text)
        raise InvalidOptions(f"The host {shown} cannot be used: {bad}.", where=where) from None
    return FixedHost(scheme=scheme, host=host, port=port)


def _port(authority: list[Unit], default: int, where: str) -> tuple[list[Unit], int]:
    closing = max((n for n, unit in enumerate(authority) if unit.char == "]"), default=0)
    colon = next((n for n, unit in enumerate(authority) if n >= closing and unit.char == ":"), None)
    if colon is None:
        return authority, default
    digits = authority[colon + 1 :]
    text = "".join(unit.char for unit in digits)
    if any(unit.slot for unit in digits):
        raise InvalidOptions("A slot cannot be the url's port.", where=where)
    if not text:
        return authority[:colon], default
    if not (text.isascii() and text.isdecimal() and 1 <= int(text[:6]) <= 65535):
        raise InvalidOptions("The url's port is not a number from 1 to 65535.", where=where)
    return authority[:colon], int(text)


def _labels(name: list[Unit], where: str) -> list[str | Slot]:
    """The host's labels; a slot is a whole label, so that it cannot lengthen another."""
    labels: list[str | Slot] = []
    for label in split(name, "."):
        slots = [unit.slot for unit in label if unit.slot]
        if slots and len(label) > 1:
            raise InvalidOptions(
                f"The slot {{{slots[0]}}} stands inside a part of the host's name.",
                where=where,
                hint="A slot in a host must be a whole part between dots.",
            )
        labels.append(Slot(slots[0]) if slots else "".join(unit.char for unit in label))
    return labels


def _path(
    segments: list[list[Unit]], rules: SegmentRules, where: str, *, shown: bool
) -> tuple[Step, ...]:
    steps: list[Step] = []
    for number, segment in enumerate(segments):
        steps.append("/" if number else "")
        steps.append(compile_segment(pieces_of(segment), rules, where=where, shown=shown))
    return _merged(steps) or ("/",)


def _merged(steps: list[Step]) -> tuple[Step, ...]:
    merged: list[Step] = []
    for step in steps:
        if isinstance(step, str) and merged and isinstance(merged[-1], str):
            merged[-1] += step
        elif step:
            merged.append(step)
    return tuple(merged)
