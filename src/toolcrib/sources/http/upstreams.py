"""This module says which upstream the calls of a definition depend on, before one is made."""

from __future__ import annotations

import re

from toolcrib.errors import EgressBlocked
from toolcrib.net.urls import destination
from toolcrib.secrets.placeholders import Language, Placeholder
from toolcrib.secrets.places import OPEN, HiddenHost
from toolcrib.sources.http.hosts import FixedHost, Host
from toolcrib.sources.http.slots import Read, Slot

_PLACE = re.compile(r"(?:[a-z][a-z0-9+.-]*:[/\\]{2})?[^/?#\\]*", re.ASCII | re.IGNORECASE)


def upstream_of(url: Read, language: Language) -> str | None:
    """`https://host`; with its placeholders where stored values decide, None where arguments do."""
    text = ""
    for piece in url:
        if isinstance(piece, Slot):
            break
        text += language.spell(piece.name) if isinstance(piece, Placeholder) else piece
    found = _PLACE.match(text)
    place = found[0] if found else ""
    slotted = len(place) == len(text) and any(isinstance(piece, Slot) for piece in url)
    if not place or slotted or "@" in place:
        return None
    try:
        return destination(place).origin
    except EgressBlocked:
        return place


def is_stored(url: Read) -> bool:
    """Whether a stored value decides where calls go, or may have a part in it."""
    seen = ""
    for piece in url:
        if isinstance(piece, Placeholder):
            start = seen.lstrip()
            place = _PLACE.match(start)
            return place is None or place.end() == len(start)
        seen += "x" if isinstance(piece, Slot) else piece
    return False


def hidden_host(url: Read, host: Host) -> HiddenHost:
    """What errors of calls to that host must not tell; OPEN where the definition tells it."""
    if not is_stored(url):
        return OPEN
    if isinstance(host, FixedHost):
        return HiddenHost((host.host,))
    fixed = ("\0" if isinstance(label, Slot) else label for label in host.labels)
    return HiddenHost(tuple(run.strip(".") for run in ".".join(fixed).split("\0")))
