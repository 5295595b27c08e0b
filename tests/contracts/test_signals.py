"""The contract of Signals, in one process and between two open databases: with and without Redis.

With Redis nobody looks at the database by itself, so what is heard there came through Redis.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress
from typing import Any

import pytest
from structlog.testing import capture_logs

from tests.contracts.databases import opened
from tests.support.services import redis_url
from toolcrib.coordination.signals import Signals, Topic
from toolcrib.storage import Storage


class Heard:
    """A listener that remembers, and can be waited for."""

    def __init__(self) -> None:
        self.topics: list[Topic] = []
        self._news = asyncio.Event()

    async def __call__(self, topic: Topic) -> None:
        self.topics.append(topic)
        self._news.set()

    async def wait(self) -> None:
        await asyncio.wait_for(self._news.wait(), 60)
        self._news.clear()


@asynccontextmanager
async def following(signals: Signals) -> AsyncIterator[None]:
    async with asyncio.TaskGroup() as group:
        task = group.create_task(signals.run())
        yield
        task.cancel()
        with suppress(asyncio.CancelledError):
            await task


@pytest.fixture(autouse=True)
def patient(monkeypatch: pytest.MonkeyPatch) -> None:
    """A Redis has longer than in use: whoever is told that it is away does without it."""
    monkeypatch.setattr("toolcrib.storage.redis.link._PATIENCE", 60.0)


@pytest.fixture(params=["looking", "redis"])
def way(request: pytest.FixtureRequest) -> dict[str, Any]:
    """How processes know of each other."""
    return {"poll": 0.05} if request.param == "looking" else {"poll": 3600, "redis": redis_url()}


@pytest.fixture
async def storage(storage_url: str, way: dict[str, Any]) -> AsyncIterator[Storage]:
    async with opened(storage_url, **way) as storage:
        yield storage


@pytest.fixture
async def other(storage_url: str, way: dict[str, Any], storage: Storage) -> AsyncIterator[Storage]:
    """A second process's view of the same database."""
    async with opened(storage_url, **way) as other:
        yield other


async def test_bump_counts_up(storage: Storage) -> None:
    """Topics are counted apart, from 0, and listeners here are told before bump returns."""
    heard = Heard()
    storage.signals.subscribe(heard)
    assert storage.signals.generation("catalog") == 0
    assert [await storage.signals.bump("catalog") for _ in range(3)] == [1, 2, 3]
    assert await storage.signals.bump("grants") == 1
    assert storage.signals.generation("catalog") == 3
    assert heard.topics == ["catalog", "catalog", "catalog", "grants"]


async def test_numbers_outlive_the_process(storage: Storage, storage_url: str) -> None:
    """A database that is opened knows the numbers at once."""
    await storage.signals.bump("catalog")
    async with opened(storage_url) as second:
        assert second.signals.generation("catalog") == 1


async def test_others_hear_it(storage: Storage, other: Storage) -> None:
    """A bump elsewhere reaches the listeners of a process that follows, once."""
    heard = Heard()
    other.signals.subscribe(heard)
    await storage.signals.bump("catalog")
    async with following(other.signals):
        await heard.wait()  # it follows from here on
        await storage.signals.bump("identity")
        await heard.wait()
        assert other.signals.generation("identity") == 1
        await storage.signals.bump("settings")
        await heard.wait()
    assert heard.topics == ["catalog", "identity", "settings"]


async def test_refresh_reads_now(storage: Storage, other: Storage) -> None:
    """Without following, `refresh` brings the numbers and tells the listeners."""
    heard = Heard()
    other.signals.subscribe(heard)
    await storage.signals.bump("plugins")
    assert other.signals.generation("plugins") == 0
    await other.signals.refresh()
    await other.signals.refresh()
    assert other.signals.generation("plugins") == 1
    assert heard.topics == ["plugins"]


async def test_parallel_bumps_are_all_counted(storage: Storage, other: Storage) -> None:
    """No bump is lost when two processes bump one topic at the same time."""
    numbers = await asyncio.gather(
        *(view.signals.bump("mcp") for _ in range(20) for view in (storage, other))
    )
    assert sorted(numbers) == list(range(1, 41))
    await storage.signals.refresh()
    assert storage.signals.generation("mcp") == 40


async def test_one_bad_listener_hides_nothing(storage: Storage) -> None:
    """A listener that raises is logged; the next one hears, and the bump stands."""
    heard = Heard()

    async def broken(topic: Topic) -> None:
        raise RuntimeError(topic)

    storage.signals.subscribe(broken)
    storage.signals.subscribe(heard)
    with capture_logs() as logs:
        assert await storage.signals.bump("catalog") == 1
    assert heard.topics == ["catalog"]
    assert [entry["event"] for entry in logs] == ["signals.listener_failed"]


async def test_a_slow_listener_delays_no_news(storage: Storage, other: Storage) -> None:
    """A reload of plugins may take its time; a revoked token is known of meanwhile."""
    heard, busy, done = Heard(), asyncio.Event(), asyncio.Event()

    async def slow(topic: Topic) -> None:
        if topic == "plugins":
            busy.set()
            await done.wait()

    other.signals.subscribe(slow)
    other.signals.subscribe(heard)
    async with following(other.signals):
        await storage.signals.bump("plugins")
        await asyncio.wait_for(busy.wait(), 60)
        await storage.signals.bump("identity")
        await heard.wait()
        done.set()
        await heard.wait()
    assert heard.topics == ["identity", "plugins"]


@pytest.mark.parametrize("way", ["looking"], indirect=True)
async def test_following_survives_a_bad_poll(storage: Storage, other: Storage) -> None:
    """While the table cannot be read the loop goes on, says so once, and then catches up."""
    heard = Heard()
    other.signals.subscribe(heard)
    rename = "ALTER TABLE {} RENAME TO {}"
    with capture_logs() as logs:
        async with following(other.signals):
            await storage.signals.bump("catalog")
            await heard.wait()
            async with storage.database.write() as connection:
                await connection.exec_driver_sql(rename.format("generations", "hidden"))
            async with asyncio.timeout(60):
                while not logs:  # noqa: ASYNC110 - a log line rings no bell
                    await asyncio.sleep(0.01)
            async with storage.database.write() as connection:
                await connection.exec_driver_sql(rename.format("hidden", "generations"))
            await storage.signals.bump("catalog")
            await heard.wait()
    assert other.signals.generation("catalog") == 2
    assert [entry["event"] for entry in logs] == ["signals.poll_failed", "signals.poll_recovered"]
