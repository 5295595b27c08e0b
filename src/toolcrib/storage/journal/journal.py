"""This module is the Journal of a database: a queue in front, a thread behind, queries beside."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from datetime import datetime

import structlog
from sqlalchemy import delete, select

from toolcrib.errors import SetupError
from toolcrib.invocation.journal import CallEnd, CallFilter, CallRecord, CallStart
from toolcrib.storage import rows
from toolcrib.storage.database import Database
from toolcrib.storage.journal.batch import Waiter
from toolcrib.storage.journal.reading import chosen_calls
from toolcrib.storage.journal.sink import Sink
from toolcrib.storage.journal.writer import Pace, Writer
from toolcrib.storage.tables import calls

log = structlog.get_logger(__name__)
_AT_ONCE = 5_000
"""How many records one transaction deletes: writers are never kept waiting for long."""


class SqlJournal:
    """Journal in SQL. All its methods belong to one event loop."""

    def __init__(self, database: Database, sink: Sink, *, pace: Pace | None = None) -> None:
        self._database = database
        self._writer = Writer(sink, pace or Pace())
        self._loop = asyncio.get_running_loop()
        self._closed = False

    async def start(self, record: CallStart) -> None:
        """Raises SetupError when it could not be written: then the call must not be sent."""
        await self._wait_for(record)

    def note_start(self, record: CallStart) -> None:
        self._queue(record)

    def end(self, record: CallEnd) -> None:
        self._queue(record)

    async def flush(self) -> None:
        """Raises SetupError when the database stayed away; what is queued stays queued."""
        await self._wait_for(None)

    async def list(
        self, chosen: CallFilter, *, before: str | None = None, limit: int = 50
    ) -> Sequence[CallRecord]:
        async with self._database.read() as connection:
            found = await rows.many(connection, chosen_calls(chosen, before=before, limit=limit))
        return [CallRecord(**row) for row in found]

    async def find(self, call_id: str) -> CallRecord | None:
        async with self._database.read() as connection:
            row = await rows.maybe(connection, select(calls).where(calls.c.call_id == call_id))
        return CallRecord(**row) if row else None

    async def prune(self, *, older_than: datetime) -> int:
        old = select(calls.c.call_id).where(calls.c.started_at < older_than).limit(_AT_ONCE)
        pruned = 0
        while True:
            async with self._database.write() as connection:
                statement = delete(calls).where(calls.c.call_id.in_(old))
                gone = await rows.affected(connection, statement)
            pruned += gone
            if gone < _AT_ONCE:
                return pruned

    async def close(self) -> None:
        if not self._closed:
            self._closed = True
            await self._writer.close()

    def _queue(self, record: CallStart | CallEnd) -> None:
        if self._closed:
            log.warning("journal.closed", call_id=record.call_id)
            return
        self._writer.put(record)

    async def _wait_for(self, record: CallStart | None) -> None:
        if self._closed:
            raise SetupError("The journal is closed.")
        waiter = Waiter(record, self._loop.create_future())
        self._writer.put_now(waiter)
        await waiter.future
