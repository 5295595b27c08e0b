"""The journal while its database is away: callers are told, nothing else is lost."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Iterator

import psycopg
import pytest
from structlog.testing import capture_logs

from tests.contracts.databases import PostgresDatabases, opened
from tests.contracts.records import a_record, a_start, an_end
from toolcrib.errors import SetupError
from toolcrib.invocation.journal import CallFilter
from toolcrib.storage import Storage, open_storage
from toolcrib.storage.journal.writer import Pace

ALL = CallFilter(everything=True)
QUICK = Pace(window=0.01, patience=0.2, pause=0.02, retry=0.05)


@pytest.fixture
async def storage(storage_url: str) -> AsyncIterator[Storage]:
    """A journal that gives up after 0.2 s instead of 15."""
    async with opened(storage_url, pace=QUICK) as storage:
        yield storage


async def rename(storage: Storage, old: str, new: str) -> None:
    """Take the table away, or bring it back."""
    async with storage.database.write() as connection:
        await connection.exec_driver_sql(f"ALTER TABLE {old} RENAME TO {new}")


async def test_start_that_cannot_be_written_raises(storage: Storage) -> None:
    """Nothing is sent on a promise: start raises, and its record never appears."""
    await rename(storage, "calls", "away")
    lost = a_start()
    with pytest.raises(SetupError, match="could not be written"):
        await storage.journal.start(lost)
    await rename(storage, "away", "calls")
    kept = a_start()
    await storage.journal.start(kept)
    assert await storage.journal.list(ALL) == [a_record(kept)]


async def test_what_nobody_waits_for_is_written_later(storage: Storage) -> None:
    """Ends and read-only calls stay queued while the table is away, and are all written."""
    started, noted = a_start(), a_start(read_only=True)
    await storage.journal.start(started)
    await rename(storage, "calls", "away")
    storage.journal.end(an_end(started))
    storage.journal.note_start(noted)
    with pytest.raises(SetupError):
        await storage.journal.flush()
    storage.journal.end(an_end(noted, duration_ms=9.0))
    await rename(storage, "away", "calls")
    await storage.journal.flush()
    assert await storage.journal.list(ALL) == [
        a_record(noted, an_end(noted, duration_ms=9.0)),
        a_record(started, an_end(started)),
    ]


async def test_backlog_is_bounded(storage_url: str) -> None:
    """What a database that stays away would have to remember is bounded, and the loss is logged."""
    async with opened(storage_url, pace=QUICK._replace(backlog=10)) as storage:
        await rename(storage, "calls", "away")
        starts = [a_start(read_only=True) for _ in range(30)]
        with capture_logs() as logs:
            for start in starts:
                storage.journal.note_start(start)
            with pytest.raises(SetupError):
                await storage.journal.flush()
        assert sum(e["calls"] for e in logs if e["event"] == "journal.dropped") == 20
        await rename(storage, "away", "calls")
        await storage.journal.flush()
        found = await storage.journal.list(ALL)
        assert [row.call_id for row in found] == [start.call_id for start in reversed(starts[20:])]


async def test_close_says_what_could_not_be_written(storage_url: str) -> None:
    """Closing does not hang on a table that is away: it logs how much is lost and ends."""
    storage = await open_storage(storage_url, pace=QUICK)
    await rename(storage, "calls", "away")
    storage.journal.note_start(a_start(read_only=True))
    with capture_logs() as logs:
        async with asyncio.timeout(60):
            await storage.close()
    assert ("journal.dropped", 1) in [(entry["event"], entry.get("calls")) for entry in logs]
    async with opened(storage_url) as again:
        await rename(again, "away", "calls")


@pytest.fixture
def server_url(postgres_databases: PostgresDatabases) -> Iterator[str]:
    """A migrated database of PostgreSQL alone: a SQLite file has no server to lose."""
    yield postgres_databases.make()
    postgres_databases.recycle()


async def test_broken_connection_is_replaced(server_url: str) -> None:
    """PostgreSQL ends every connection while calls go on: no start fails, no record is lost."""
    starts = [a_start() for _ in range(300)]

    async def call(n: int) -> None:
        await storage.journal.start(starts[n])
        storage.journal.end(an_end(starts[n]))

    async def cut() -> None:
        async with await psycopg.AsyncConnection.connect(server_url, autocommit=True) as connection:
            for _ in range(5):
                await asyncio.sleep(0.02)
                await connection.execute(
                    "SELECT pg_terminate_backend(pid) FROM pg_stat_activity"
                    " WHERE datname = current_database() AND pid <> pg_backend_pid()"
                )

    async def calls() -> None:
        for n in range(0, 300, 10):
            await asyncio.gather(*(call(m) for m in range(n, n + 10)))
            await asyncio.sleep(0.004)

    async with opened(server_url) as storage:
        await asyncio.gather(calls(), cut())
        await storage.journal.flush()
        found = await storage.journal.list(ALL, limit=500)
    assert found == [a_record(start, an_end(start)) for start in reversed(starts)]
