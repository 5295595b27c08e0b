"""Opening and closing: what an operator is told when it cannot be, and that nothing is left."""

from __future__ import annotations

import asyncio
import sqlite3
import threading
from contextlib import closing
from datetime import UTC, datetime, timedelta, timezone
from pathlib import Path

import pytest

from tests.contracts.databases import Databases, opened
from tests.contracts.people import add_agent, add_people
from tests.storage import children
from toolcrib.errors import SetupError
from toolcrib.storage import migrate, open_storage, revision


async def test_new_file_is_made_and_lasts(tmp_path: Path) -> None:
    """The first start makes folder, file and tables; the second finds what the first stored."""
    url = f"sqlite:///{tmp_path}/a/b/crib.db"
    storage = await open_storage(url)
    group = await storage.groups.create(name="Sales")
    await storage.close()
    storage = await open_storage(url)
    assert await storage.groups.list() == [group]
    await storage.ping()
    await storage.close()
    assert (tmp_path / "a" / "b").stat().st_mode & 0o777 == 0o700
    with closing(sqlite3.connect(tmp_path / "a/b/crib.db")) as plain:
        assert plain.execute("PRAGMA journal_mode").fetchone() == ("wal",)


async def test_file_that_is_no_database(tmp_path: Path) -> None:
    """A file of something else is named and left as it is."""
    path = tmp_path / "notes.db"
    path.write_text("no database, but more than a hundred characters of text " * 4)
    before = path.read_text()
    with pytest.raises(SetupError, match=r"notes\.db"):
        await open_storage(f"sqlite:///{path}")
    assert path.read_text() == before


async def test_open_file_keeps_its_locks(tmp_path: Path) -> None:
    """Whatever else this process does with an open database, others see that it is in use.

    A process that believes itself alone deletes the write-ahead log when it closes.
    """
    url = f"sqlite:///{tmp_path}/crib.db"
    async with opened(url) as storage:
        await storage.groups.create(name="Sales")
        await migrate(url)
        await revision(url)
        async with opened(url):
            pass
        await children.finish(await children.start(OPEN_AND_CLOSE, url))
        assert await asyncio.to_thread((tmp_path / "crib.db-wal").exists)
        await storage.groups.create(name="Support")
    async with opened(url) as storage:
        assert [group.name for group in await storage.groups.list()] == ["Sales", "Support"]


OPEN_AND_CLOSE = """
    import asyncio, sys
    from toolcrib.storage import migrate, open_storage, revision

    async def main():
        storage = await open_storage(sys.argv[1])
        await storage.close()

    asyncio.run(main())
"""


async def test_server_that_is_not_there() -> None:
    """The error names the address without its password."""
    with pytest.raises(SetupError) as refused:
        await open_storage("postgresql://me:hidden@127.0.0.1:1/crib")
    assert "127.0.0.1:1/crib" in str(refused.value)
    assert "hidden" not in str(refused.value)
    assert "hidden" not in repr(refused.value.__cause__)


async def test_nothing_is_left_running(databases: Databases) -> None:
    """After close no thread of the storage is left, whatever was going on."""
    before = set(threading.enumerate())
    storage = await open_storage(databases.make())
    await asyncio.gather(*(storage.groups.create(name=f"g{n}") for n in range(10)))
    await storage.close()
    left = {thread for thread in threading.enumerate() if thread not in before}
    for thread in left:
        if not thread.name.startswith("asyncio_"):
            await asyncio.to_thread(thread.join, 20)  # it says that it is done, then returns
            assert not thread.is_alive(), thread.name


async def test_clock_is_a_parameter(storage_url: str) -> None:
    """Rows carry the time of the clock that was given, in UTC."""
    local = datetime(2026, 1, 2, 3, 4, 5, 6, tzinfo=timezone(timedelta(hours=-7)))
    storage = await open_storage(storage_url, clock=lambda: local)
    people = await add_people(storage)
    agent = await add_agent(storage, people)
    await storage.close()
    expected = datetime(2026, 1, 2, 10, 4, 5, 6, tzinfo=UTC)
    for made in (people.first.created_at, people.ann.created_at, agent.created_at):
        assert made == expected
        assert made.tzinfo is UTC
