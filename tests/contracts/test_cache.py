"""The contract of Cache, on the one of a process and on Redis."""

from __future__ import annotations

import asyncio
import uuid
from collections.abc import AsyncIterator

import pytest

from tests.support.services import redis_url
from toolcrib.coordination.cache import Cache, LocalCache
from toolcrib.storage.redis.parts import open_redis


@pytest.fixture(autouse=True)
def patient(monkeypatch: pytest.MonkeyPatch) -> None:
    """A Redis has longer than in use: whoever is told that it is away does without it."""
    monkeypatch.setattr("toolcrib.storage.redis.link._PATIENCE", 60.0)


@pytest.fixture(params=["local", "redis"])
async def cache(request: pytest.FixtureRequest) -> AsyncIterator[Cache]:
    if request.param == "local":
        yield LocalCache()
        return
    parts = open_redis(redis_url(), name=f"test {uuid.uuid4().hex}")
    yield parts.cache
    await parts.cache.drop("")
    await parts.close()


async def test_a_value_comes_back_as_it_was(cache: Cache) -> None:
    """Any bytes under any key; the last one put counts."""
    for value in (b"", b"\0\xff", b"last"):
        await cache.put("a key: *[é]", value, seconds=60)
        assert await cache.get("a key: *[é]") == value
    assert await cache.get("another") is None


async def test_a_value_ends(cache: Cache) -> None:
    """Within its time it is there, afterwards it is not."""
    await cache.put("short", b"1", seconds=0.05)
    await cache.put("long", b"2", seconds=3600)
    async with asyncio.timeout(60):
        while await cache.get("short") is not None:  # noqa: ASYNC110 - an end rings no bell
            await asyncio.sleep(0.01)
    assert await cache.get("long") == b"2"


async def test_dropping_by_prefix(cache: Cache) -> None:
    """Everything that begins so, to the letter, and nothing else."""
    for key in ("a:1", "a:2", "b:1", "*", "[a]:1"):
        await cache.put(key, b"x", seconds=60)

    assert [await cache.drop(prefix) for prefix in ("a:", "*", "[a", "?", "a:")] == [2, 1, 1, 0, 0]

    assert [await cache.get(key) for key in ("a:1", "b:1", "*")] == [None, b"x", None]


async def test_many_are_dropped(cache: Cache) -> None:
    """More than one look through Redis finds."""
    for number in range(1200):
        await cache.put(f"many:{number}", b"x", seconds=60)

    assert await cache.drop("many:") == 1200
