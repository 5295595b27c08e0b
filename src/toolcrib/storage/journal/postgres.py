"""This module writes batches to PostgreSQL: one statement, so one round trip and one commit."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, LiteralString

from toolcrib.storage.journal.batch import Batch
from toolcrib.storage.journal.encoding import (
    COLUMNS,
    END_COLUMNS,
    Values,
    end_values,
    start_values,
)

if TYPE_CHECKING:
    import psycopg

_WRITE: LiteralString = """
WITH begun AS (
    INSERT INTO calls (call_id, ref, tool, read_only, user_id, group_id, agent_id, chat_id,
        started_at, arguments, surface, duration_ms, success, error, truncated)
    SELECT call_id, ref, tool, read_only, user_id, group_id, agent_id, chat_id,
        started_at, arguments::json, surface, duration_ms, success, error::json, truncated
    FROM unnest(%b::text[], %b::text[], %b::text[], %b::bool[], %b::int8[], %b::int8[],
        %b::int8[], %b::int8[], %b::timestamptz[], %b::text[], %b::text[], %b::float8[],
        %b::bool[], %b::text[], %b::bool[])
    AS s (call_id, ref, tool, read_only, user_id, group_id, agent_id, chat_id,
        started_at, arguments, surface, duration_ms, success, error, truncated)
    ON CONFLICT (call_id) DO NOTHING
)
UPDATE calls SET duration_ms = e.duration_ms, success = e.success, error = e.error::json,
    truncated = e.truncated, arguments = coalesce(e.arguments::json, calls.arguments)
FROM unnest(%b::text[], %b::float8[], %b::bool[], %b::text[], %b::bool[], %b::text[])
    AS e (call_id, duration_ms, success, error, truncated, arguments)
WHERE calls.call_id = e.call_id
"""


class PostgresSink:
    """Sink of a PostgreSQL database."""

    def __init__(self, conninfo: str) -> None:
        import psycopg  # noqa: PLC0415 - an extra

        self._psycopg = psycopg
        self._conninfo = conninfo
        self._connection: psycopg.Connection | None = None

    def write(self, batch: Batch) -> None:
        connection = self._connection or self._open()
        starts = [start_values(start, end) for start, end in batch.whole]
        ends = [end_values(end) for end in batch.later]
        connection.execute(
            _WRITE, [*_columns(starts, len(COLUMNS)), *_columns(ends, len(END_COLUMNS))]
        )

    def may_pass(self, error: Exception) -> bool:
        refusals = (self._psycopg.DataError, self._psycopg.IntegrityError)
        if not isinstance(error, self._psycopg.Error) or isinstance(error, refusals):
            return False
        # Without a number from the server, it was the driver that could not take a value.
        return error.sqlstate is not None or not isinstance(error, self._psycopg.ProgrammingError)

    def drop(self) -> None:
        if self._connection is not None:
            self._connection.close()
            self._connection = None

    def _open(self) -> psycopg.Connection:
        self._connection = self._psycopg.connect(self._conninfo, autocommit=True)
        return self._connection


def _columns(rows: Sequence[Values], count: int) -> list[list[object]]:
    return [[row[n] for row in rows] for n in range(count)]
