"""This module makes records of calls."""

from __future__ import annotations

import time
from datetime import UTC, datetime
from itertools import count
from typing import Any

from toolcrib.invocation.journal import CallEnd, CallRecord, CallStart

NOON = datetime(2026, 5, 1, 12, 0, 0, 123456, tzinfo=UTC)
_numbers = count(time.time_ns())


def a_start(**values: Any) -> CallStart:
    """Each one's id sorts behind those made before it."""
    given = {
        "call_id": f"call_{next(_numbers):032x}",
        "ref": "native:notes/add_note",
        "tool": "add_note",
        "read_only": False,
        "user_id": 1,
        "group_id": None,
        "agent_id": 7,
        "chat_id": None,
        "started_at": NOON,
        "arguments": {"text": "milk"},
    }
    return CallStart(**{**given, **values})


def an_end(start: CallStart, **values: Any) -> CallEnd:
    return CallEnd(**{"call_id": start.call_id, "duration_ms": 1.5, "success": True, **values})


def a_record(start: CallStart, end: CallEnd | None = None) -> CallRecord:
    """What the journal shows of them."""
    begun = {name: getattr(start, name) for name in start.__slots__}
    if end is None:
        return CallRecord(**begun)
    ended = {name: getattr(end, name) for name in end.__slots__}
    if end.arguments is None:
        del ended["arguments"]
    return CallRecord(**{**begun, **ended})
