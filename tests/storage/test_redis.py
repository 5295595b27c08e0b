"""A Redis that is away, comes back, or belongs to somebody else: nothing fails for it."""

from __future__ import annotations

import asyncio
import contextlib
import shutil
import socket
import subprocess
from collections.abc import AsyncGenerator, AsyncIterator
from contextlib import asynccontextmanager, suppress
from pathlib import Path

import pytest
from structlog.testing import capture_logs

from tests.contracts.databases import opened
from tests.support.ports import quiet_port
from tests.support.services import missing, redis_url
from toolcrib.coordination.signals import Signals, Topic
from toolcrib.errors import InvalidSettings, SetupError
from toolcrib.storage import Storage
from toolcrib.storage.redis.address import RedisAddress
from toolcrib.storage.redis.bell import RedisBell
from toolcrib.storage.redis.link import RedisLink


@pytest.fixture
def nowhere() -> AsyncIterator[str]:
    """The address of a port that nobody listens on."""
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        yield f"redis://:hunter2@127.0.0.1:{taken.getsockname()[1]}/0"


@pytest.fixture
def patient(monkeypatch: pytest.MonkeyPatch) -> None:
    """A Redis has longer than in use: whoever is told that it is away does without it."""
    monkeypatch.setattr("toolcrib.storage.redis.link._PATIENCE", 60.0)


@asynccontextmanager
async def following(signals: Signals) -> AsyncGenerator[None]:
    async with asyncio.TaskGroup() as group:
        task = group.create_task(signals.run())
        yield
        task.cancel()
        with suppress(asyncio.CancelledError):
            await task


async def until_known(signals: Signals, topic: Topic, number: int) -> None:
    async with asyncio.timeout(60):
        while signals.generation(topic) < number:  # noqa: ASYNC110 - a number rings no bell
            await asyncio.sleep(0.01)


async def test_without_redis_changes_are_looked_for(storage_url: str, nowhere: str) -> None:
    """It is said once, without the password; bumps and caches work all the same."""
    with capture_logs() as logs:
        async with (
            opened(storage_url, redis=nowhere) as here,
            opened(storage_url, redis=nowhere, poll=0.05) as there,
            following(there.signals),
        ):
            numbers = [await here.signals.bump("identity") for _ in range(3)]
            await until_known(there.signals, "identity", 3)
            await here.cache.put("k", b"v", seconds=60)
            got = await here.cache.get("k"), await here.cache.drop("k"), await here.cache.get("k")

    assert (numbers, got) == ([1, 2, 3], (b"v", 1, None))
    lines = [entry for entry in logs if entry["event"] == "redis.away"]
    assert len(lines) == 2  # one of each process
    assert "hunter2" not in str(logs)


@pytest.mark.usefixtures("patient")
async def test_redis_may_come_and_go(storage_url: str, tmp_path: Path) -> None:
    """What was missed while it was away is there once it is back, and rings work again."""
    port = quiet_port()
    url = f"redis://127.0.0.1:{port}"
    way = {"redis": url, "poll": 3600}
    async with (
        opened(storage_url, **way) as here,
        opened(storage_url, **way) as there,
        following(there.signals),
    ):
        await here.signals.bump("catalog")
        with server(port, tmp_path):
            await until_known(there.signals, "catalog", 1)
        await here.signals.bump("catalog")
        with server(port, tmp_path):
            await until_known(there.signals, "catalog", 2)
            await until_asked_again(here)
            await here.signals.bump("catalog")
            await until_known(there.signals, "catalog", 3)


@pytest.mark.usefixtures("patient")
async def test_a_ring_is_believed_by_nobody(storage_url: str) -> None:
    """Whoever can reach the Redis can make processes look, and nothing else."""
    async with opened(storage_url, redis=redis_url(), poll=3600) as here:
        before = here.signals.total
        async with following(here.signals):
            link = RedisLink(RedisAddress.of(redis_url()))
            channel = f"toolcrib:{here.database.address.name}:changed"
            async with asyncio.timeout(60):
                while not await link.ask("PUBLISH", channel, b"identity 999"):  # noqa: ASYNC110
                    await asyncio.sleep(0.01)  # until it listens
            await here.signals.bump("catalog")
            await link.close()
        assert (here.signals.total, here.signals.generation("identity")) == (before + 1, 0)


@pytest.mark.usefixtures("patient")
async def test_what_fails_at_a_ring_does_not_end_the_listening() -> None:
    """Else a process would never again hear that a token was taken back."""
    link = RedisLink(RedisAddress.of(redis_url()))
    again = asyncio.Event()
    times: list[int] = []

    async def heard() -> None:
        times.append(len(times))
        if len(times) == 1:
            raise ValueError("something unforeseen")
        again.set()

    with capture_logs() as logs:
        listening = asyncio.create_task(RedisBell(link, name="test-of-failing").listen(heard))
        async with asyncio.timeout(60):
            await again.wait()
        listening.cancel()
        with suppress(asyncio.CancelledError):
            await listening
    await link.close()
    assert [entry["event"] for entry in logs] == ["bell.failed"]


async def test_an_answer_that_does_not_come_is_waited_for_once() -> None:
    """A Redis that hangs costs one command its second, and those after it nothing."""
    with socket.create_server(("127.0.0.1", 0)) as silent:  # it never accepts
        place = f"127.0.0.1:{silent.getsockname()[1]}"
        link = RedisLink(RedisAddress.of(f"redis://{place}"), clock=lambda: 100.0)
        said: list[str] = []
        for _ in range(3):
            with pytest.raises(SetupError) as caught:
                await link.ask("PING")
            said.append(caught.value.message)
        await link.close()

    quick = f"The Redis at {place} does not answer: it failed a moment ago."
    assert (said[0] == quick, said[1:]) == (False, [quick, quick])


@pytest.mark.parametrize(
    "url",
    ["redis", "http://x:6379", "redis://", "redis://x:port", "redis://x:1/name", "redis://[::1"],
)
def test_what_is_no_address_of_a_redis(url: str) -> None:
    """The setting is named; the text, which may hold a password, is not repeated."""
    with pytest.raises(InvalidSettings) as caught:
        RedisAddress.of(url)
    assert (caught.value.where, url in caught.value.message) == ("TOOLCRIB_REDIS_URL", False)


@pytest.mark.parametrize(
    ("url", "place"),
    [
        ("redis://:secret@cache.internal", "cache.internal:6379"),
        ("rediss://u:secret@[::1]:7000/3", "[::1]:7000"),
        ("unix:///run/redis.sock", "/run/redis.sock"),
    ],
)
def test_the_place_of_an_address(url: str, place: str) -> None:
    """Without name and password, in messages and in its repr."""
    address = RedisAddress.of(url)
    assert (address.place, "secret" in repr(address)) == (place, False)


async def until_asked_again(storage: Storage) -> None:
    """A Redis that failed is left alone for some seconds."""
    assert storage.redis is not None
    async with asyncio.timeout(60):
        while True:
            with suppress(SetupError):
                await storage.redis.link.ask("PING")
                return
            await asyncio.sleep(0.05)


@contextlib.contextmanager
def server(port: int, folder: Path) -> AsyncIterator[None]:
    """A Redis of this test's own."""
    program = shutil.which("redis-server") or missing("redis-server is not installed")
    options = ["--port", str(port), "--bind", "127.0.0.1", "--save", "", "--dir", str(folder)]
    process = subprocess.Popen([program, *options], stdout=subprocess.DEVNULL)
    try:
        yield
    finally:
        process.terminate()
        process.wait(30)
