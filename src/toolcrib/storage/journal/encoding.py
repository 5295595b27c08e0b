"""This module turns records into values for the columns. Nothing that a
tool was given fails here.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from collections.abc import Set as AbstractSet
from typing import Any, cast

import orjson

from toolcrib.invocation.journal import CallEnd, CallStart

COLUMNS = (
    "call_id",
    "ref",
    "tool",
    "read_only",
    "user_id",
    "group_id",
    "agent_id",
    "chat_id",
    "started_at",
    "arguments",
    "surface",
    "duration_ms",
    "success",
    "error",
    "truncated",
)
END_COLUMNS = ("call_id", "duration_ms", "success", "error", "truncated", "arguments")
"""`arguments` is None where those that were written at the start stay."""
_ENDED = slice(1, 5)
Values = tuple[Any, ...]


def start_values(start: CallStart, end: CallEnd | None) -> Values:
    """Values of COLUMNS."""
    return (
        start.call_id,
        _text(start.ref),
        _text(start.tool),
        start.read_only,
        start.user_id,
        start.group_id,
        start.agent_id,
        start.chat_id,
        start.started_at,
        as_json(end.arguments if end and end.arguments is not None else start.arguments),
        _text(start.surface),
        *(end_values(end)[_ENDED] if end else (None, None, None, False)),
    )


def end_values(end: CallEnd) -> Values:
    """Values of END_COLUMNS."""
    error = None if end.error is None else as_json(end.error)
    arguments = None if end.arguments is None else as_json(end.arguments)
    return end.call_id, end.duration_ms, end.success, error, end.truncated, arguments


def as_json(value: object) -> str:
    """JSON text of anything: what JSON cannot say is written as Python says it."""
    try:
        return orjson.dumps(value, default=_plain).decode()
    except TypeError:
        return _slowly(value)


def _slowly(value: object) -> str:
    """Numbers past 64 bits, keys that are no text, half surrogates."""
    try:
        return json.dumps(value, default=_plain, skipkeys=True, allow_nan=False)
    except Exception as error:  # noqa: BLE001 - a stranger's __repr__ may raise anything
        return json.dumps({"unreadable": type(error).__name__})


def _plain(value: object) -> object:
    if isinstance(value, Mapping):
        return dict(cast("Mapping[Any, Any]", value))
    return list(cast("AbstractSet[Any]", value)) if isinstance(value, AbstractSet) else repr(value)


def _text(value: str) -> str:
    """Text without what PostgreSQL refuses."""
    if value.isascii() and "\0" not in value:
        return value
    return value.encode(errors="replace").decode().replace("\0", "\ufffd")
