"""This module says in which parts a value may be shown by whoever was given it."""

from __future__ import annotations

import re
from collections.abc import Iterable
from urllib.parse import parse_qsl, unquote, urlsplit

_LONG_TAIL = 16
_TOKEN = re.compile(r"(?=.*[0-9])(?=.*[A-Za-z]).{12,}", re.ASCII)
"""A part of a path that names nothing a person would: the key of a webhook, of a bot."""


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
        forms |= {part for part in (tail, parts.path) if len(part) >= _LONG_TAIL}
        names = (*parts.path.split("/"), unquote(parts.username or ""))
        forms |= {part for part in names if _TOKEN.fullmatch(part)}
        if parts.password:
            forms.add(unquote(parts.password))
        if parts.query:
            forms |= {item for _, item in parse_qsl(parts.query)}
    return forms
