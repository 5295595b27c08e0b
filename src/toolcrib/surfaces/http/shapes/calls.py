"""This module shapes the journal's records."""

from __future__ import annotations

from datetime import datetime

from toolcrib.invocation.journal import CallRecord
from toolcrib.surfaces.http.shapes.fields import JsonObject, Row
from toolcrib.surfaces.http.shapes.tools import ErrorRow


class CallRow(Row):
    """`success` is null while the call runs, and when its process died."""

    call_id: str
    tool: str
    ref: str
    read_only: bool
    agent_id: int | None
    user_id: int
    group_id: int | None
    chat_id: int | None
    surface: str
    started_at: datetime
    duration_ms: float | None
    success: bool | None
    error: ErrorRow | None
    truncated: bool
    arguments: JsonObject


def call_row(record: CallRecord) -> JsonObject:
    """The JSON of a CallRow."""
    return {name: getattr(record, name) for name in CallRow.model_fields}
