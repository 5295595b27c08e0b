"""This module says what is recorded of a call, and the port of the journal.

The promise: a call that may change something is on disk before it is sent; read-only calls and
results are written in groups, at most 100 ms later.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any, Protocol

from toolcrib.tools.record import record


@record
class CallStart:
    """A call that begins. Arguments that the tool declares private are not in it."""

    call_id: str
    ref: str
    tool: str
    read_only: bool
    user_id: int
    group_id: int | None
    agent_id: int | None
    chat_id: int | None
    started_at: datetime
    arguments: Mapping[str, Any]
    surface: str = "python"


@record
class CallEnd:
    """How it ended. `error` is `{code, message}` or None; `text` is the masked, capped result."""

    call_id: str
    duration_ms: float
    success: bool
    error: Mapping[str, str] | None = None
    truncated: bool = False
    arguments: Mapping[str, Any] | None = None
    """Set where values that were resolved for the call were among them: without those."""


@dataclass(frozen=True, kw_only=True, slots=True)
class CallRecord:
    """A row of the journal. `success` is None while the call runs, or if its process died."""

    call_id: str
    ref: str
    tool: str
    read_only: bool
    user_id: int
    group_id: int | None
    agent_id: int | None
    chat_id: int | None
    started_at: datetime
    arguments: Mapping[str, Any] = field(default_factory=dict[str, Any])
    surface: str = "python"
    duration_ms: float | None = None
    success: bool | None = None
    error: Mapping[str, str] | None = None
    truncated: bool = False


@dataclass(frozen=True, kw_only=True, slots=True)
class CallFilter:
    """Which calls a list shows. `user_id` or `group_ids` bound what the caller may see.

    A record is within reach when it is the user's own, or belongs to one of the groups;
    `everything` is the operator's.
    """

    own_user_id: int | None = None
    group_ids: frozenset[int] = frozenset()
    every_group: bool = False
    everything: bool = False
    agent_id: int | None = None
    tool: str | None = None
    user_id: int | None = None
    success: bool | None = None
    since: datetime | None = None


class Journal(Protocol):
    """Append-only; read for people, never consulted to decide."""

    async def start(self, record: CallStart) -> None:
        """Return once the record is on disk. Callers that arrive together share one commit."""
        ...

    def note_start(self, record: CallStart) -> None:
        """Queue the start of a read-only call; it is on disk within 100 ms."""
        ...

    def end(self, record: CallEnd) -> None:
        """Queue the end; it is on disk within 100 ms."""
        ...

    async def flush(self) -> None:
        """Return once everything queued so far is on disk."""
        ...

    async def list(
        self, chosen: CallFilter, *, before: str | None = None, limit: int = 50
    ) -> Sequence[CallRecord]:
        """Newest first. `before` is the call_id of the last record already seen.

        call_ids sort by time (they start with a UUIDv7's time).
        """
        ...

    async def find(self, call_id: str) -> CallRecord | None: ...

    async def prune(self, *, older_than: datetime) -> int:
        """Delete old records; returns how many."""
        ...

    async def close(self) -> None:
        """Write what is queued and stop."""
        ...
