"""This module writes JSON answers, whatever a tool put into its result."""

from __future__ import annotations

import json
from datetime import datetime
from typing import Any

import orjson
from starlette.responses import Response

_OPTIONS = orjson.OPT_NON_STR_KEYS | orjson.OPT_UTC_Z


class Json(Response):
    """An answer of a JSON value."""

    media_type = "application/json"

    def render(self, content: Any) -> bytes:
        return dumps(content)


def dumps(value: Any) -> bytes:
    """JSON bytes. What orjson refuses (half characters, huge numbers, deep nesting) is escaped."""
    try:
        return orjson.dumps(value, default=str, option=_OPTIONS)
    except TypeError:
        return _slowly(value)


def _slowly(value: Any) -> bytes:
    try:
        return json.dumps(value, default=_words, skipkeys=True, allow_nan=False).encode()
    except (TypeError, ValueError, RecursionError):
        # Nothing that JSON could hold: its words are better than no answer.
        return json.dumps(repr(value)[:10_000]).encode()


def _words(value: Any) -> str:
    """A time as orjson writes it; anything else in its own words."""
    if isinstance(value, datetime):
        return value.isoformat().replace("+00:00", "Z")
    return str(value)
