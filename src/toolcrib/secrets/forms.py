"""This module says in which parts a value may be shown by whoever was given it."""

from __future__ import annotations

from collections.abc import Iterable
from urllib.parse import parse_qsl, urlsplit

_LONG_TAIL = 16


def private_forms(values: Iterable[str]) -> set[str]:
    """The values, and of those that are URLs also the parts that an upstream may echo alone."""
    forms: set[str] = set()
    for value in values:
        forms.add(str(value))
        if "://" not in value:
            continue
        try:
            parts = urlsplit(value)
        except ValueError:
            continue
        tail = f"{parts.path}?{parts.query}" if parts.query else parts.path
        if len(tail) >= _LONG_TAIL:
            forms.add(tail)
        if parts.query:
            forms |= {item for _, item in parse_qsl(parts.query)}
    return forms
