"""This module keeps memory addresses, which Python puts into the text of objects, from readers."""

from __future__ import annotations

import re

_ADDRESS = re.compile(r" at 0x[0-9a-fA-F]{4,}")
_OBJECT = re.compile(r"<([\w.]+)(?: object)?\b[^<>]*(?:<[^<>]*>)?[^<>]* at 0x[0-9a-fA-F]{4,}")


def has_address(text: str) -> bool:
    """Whether a text shows an object that has no words of its own."""
    return " at 0x" in text and _ADDRESS.search(text) is not None


def kind_in(text: str) -> str | None:
    """The type of the first such object."""
    found = _OBJECT.search(text)
    return found[1].rpartition(".")[2] if found else None


def without_addresses(text: str) -> str:
    return _ADDRESS.sub("", text) if " at 0x" in text else text
