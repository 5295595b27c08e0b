"""This module writes batches to SQLite with the standard library's own driver.

A batch is as few statements as can be: for each, the driver lets go of the interpreter's lock and
must win it back from a busy event loop. So many rows go into one statement, and since statements
are compiled by their text, the numbers of rows are powers of two: the last row is repeated to
reach the next one, which changes nothing.
"""

from __future__ import annotations

import random
import sqlite3
import time
from collections.abc import Callable, Sequence
from datetime import UTC, datetime
from functools import cache
from pathlib import Path

from toolcrib.storage.journal.batch import Batch
from toolcrib.storage.journal.encoding import (
    COLUMNS,
    END_COLUMNS,
    Values,
    end_values,
    start_values,
)

_REFUSALS = (
    sqlite3.DataError,
    sqlite3.IntegrityError,
    sqlite3.InterfaceError,
    sqlite3.ProgrammingError,
)
_BUSY_S = 10.0
_LOOK_S = 0.002
"""Between two looks at a lock that another process holds, in seconds, give or take a half."""
_MOST = 512
"""Rows in one statement: 15 values each stay far below SQLite's limit of 32,766."""
_STARTED_AT = COLUMNS.index("started_at")


class SqliteSink:
    """Sink of a SQLite file. Each commit waits for the disk (`synchronous=FULL`)."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._connection: sqlite3.Connection | None = None

    def write(self, batch: Batch) -> None:
        connection = self._connection or self._open()
        rows = [_row(start_values(start, end)) for start, end in batch.whole]
        ends = [end_values(end) for end in batch.later]
        if len(rows) <= _MOST and not ends:
            # One statement is a transaction by itself.
            _when_free(lambda: _insert(connection, rows))
            return
        _when_free(lambda: connection.execute("BEGIN IMMEDIATE"))
        try:
            _insert(connection, rows)
            _update(connection, ends)
            connection.execute("COMMIT")
        except BaseException:
            connection.rollback()
            raise

    def may_pass(self, error: Exception) -> bool:
        return isinstance(error, sqlite3.Error) and not isinstance(error, _REFUSALS)

    def drop(self) -> None:
        if self._connection is not None:
            self._connection.close()
            self._connection = None

    def _open(self) -> sqlite3.Connection:
        connection = sqlite3.connect(
            self._path, isolation_level=None, timeout=0, cached_statements=64
        )
        connection.execute("PRAGMA synchronous=FULL")
        self._connection = connection
        return connection


def _when_free(work: Callable[[], object]) -> None:
    """Do what takes the write lock, again every few milliseconds while another process has it.

    SQLite's own waiting sleeps up to 100 ms between two looks, and a process that sleeps while the
    others come and go would keep its records that long.
    """
    ends = time.monotonic() + _BUSY_S
    while True:
        try:
            work()
        except sqlite3.OperationalError as error:
            if error.sqlite_errorcode & 0xFF != sqlite3.SQLITE_BUSY or time.monotonic() > ends:
                raise
            time.sleep(_LOOK_S * (0.5 + random.random()))  # noqa: S311 - so that two do not march in step
        else:
            return


def _row(values: Values) -> Values:
    return (*values[:_STARTED_AT], _moment(values[_STARTED_AT]), *values[_STARTED_AT + 1 :])


def _moment(value: datetime) -> str:
    """The text that SQLAlchemy reads back: UTC without saying so, six digits of a second."""
    return value.astimezone(UTC).isoformat(sep=" ", timespec="microseconds")[:26]


def _insert(connection: sqlite3.Connection, rows: Sequence[Values]) -> None:
    for start in range(0, len(rows), _MOST):
        values = _padded(rows[start : start + _MOST])
        connection.execute(_insert_sql(len(values)), _flat(values))


def _update(connection: sqlite3.Connection, ends: Sequence[Values]) -> None:
    for start in range(0, len(ends), _MOST):
        values = _padded(ends[start : start + _MOST])
        connection.execute(_update_sql(len(values)), _flat(values))


def _padded(rows: Sequence[Values]) -> list[Values]:
    """As many rows as the next power of two, the last one repeated."""
    size = 1 << (len(rows) - 1).bit_length()
    return [*rows, *[rows[-1]] * (size - len(rows))]


def _flat(rows: Sequence[Values]) -> list[object]:
    return [value for row in rows for value in row]


def _places(columns: Sequence[str], count: int) -> str:
    one = f"({','.join('?' * len(columns))})"
    return ",".join([one] * count)


@cache
def _insert_sql(count: int) -> str:
    return (
        f"INSERT INTO calls ({','.join(COLUMNS)}) VALUES {_places(COLUMNS, count)} "  # noqa: S608
        "ON CONFLICT (call_id) DO NOTHING"
    )


@cache
def _update_sql(count: int) -> str:
    new = ", ".join(
        f"{name} = coalesce(e.column{n}, calls.{name})"
        if name == "arguments"
        else f"{name} = e.column{n}"
        for n, name in enumerate(END_COLUMNS, 1)
        if n > 1
    )
    return (
        f"UPDATE calls SET {new} FROM (VALUES {_places(END_COLUMNS, count)}) AS e "  # noqa: S608
        "WHERE calls.call_id = e.column1"
    )
