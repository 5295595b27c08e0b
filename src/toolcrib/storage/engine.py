"""This module makes the SQLAlchemy engine and sets what each database needs to be safe.

SQLite: a transaction that writes says so when it begins (`BEGIN IMMEDIATE`), so that two of them
queue up instead of overwriting each other; one that reads never waits for a writer.
"""

from __future__ import annotations

import sqlite3
from contextlib import suppress
from typing import Any

from sqlalchemy import Connection, event
from sqlalchemy.ext.asyncio import AsyncEngine, create_async_engine
from sqlalchemy.pool import NullPool

from toolcrib.storage.address import Address
from toolcrib.storage.columns import dump_json

READS = "toolcrib_reads"
"""The execution option of a connection that only reads."""
BUSY_MS = 30_000
"""How long a writer of SQLite waits for its turn."""


class SqliteConnection(sqlite3.Connection):
    """Ends its transaction when it is closed.

    SQLite keeps a closed connection as it is, with its locks, for as long as somebody holds a
    statement of it that is not read to its end; the traceback of a task that was cancelled does.
    """

    def close(self) -> None:
        with suppress(sqlite3.Error):  # closed already, or broken
            self.rollback()
        super().close()


def make_engine(address: Address, *, migrating: bool = False) -> AsyncEngine:
    """`migrating`: connections for changing tables, which check no references meanwhile."""
    options: dict[str, Any] = {"json_serializer": dump_json, "hide_parameters": True}
    if migrating:
        options["poolclass"] = NullPool
    elif address.kind == "postgresql":
        options |= {"pool_pre_ping": True, "pool_size": 5, "max_overflow": 10}
    else:
        options |= {"pool_size": 4, "max_overflow": 4}
    if address.kind == "sqlite":
        options["connect_args"] = {"factory": SqliteConnection}
    engine = create_async_engine(address.url, **options)
    if address.kind == "sqlite":
        _prepare_sqlite(engine, check_references=not migrating)
    return engine


def _prepare_sqlite(engine: AsyncEngine, *, check_references: bool) -> None:
    def on_connect(connection: Any, _: object) -> None:
        connection.isolation_level = None
        cursor = connection.cursor()
        cursor.execute(f"PRAGMA busy_timeout={BUSY_MS}")
        cursor.execute("PRAGMA synchronous=FULL")
        cursor.execute(f"PRAGMA foreign_keys={'ON' if check_references else 'OFF'}")
        cursor.close()

    def on_begin(connection: Connection) -> None:
        reads = connection.get_execution_options().get(READS, False)
        connection.exec_driver_sql("BEGIN" if reads else "BEGIN IMMEDIATE")

    event.listen(engine.sync_engine, "connect", on_connect)
    event.listen(engine.sync_engine, "begin", on_begin)
