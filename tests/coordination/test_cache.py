"""What the cache of one process has of its own: the end of values, and of room."""

from __future__ import annotations

from toolcrib.coordination.cache import Cache, LocalCache


class Clock:
    now = 100.0

    def __call__(self) -> float:
        return self.now


async def test_values_end() -> None:
    """At their end, not before."""
    clock = Clock()
    cache: Cache = LocalCache(clock=clock)
    await cache.put("a", b"1", seconds=10)
    clock.now = 109.9
    assert await cache.get("a") == b"1"
    clock.now = 110
    assert await cache.get("a") is None


async def test_a_value_is_replaced_with_its_end() -> None:
    """The later end counts."""
    clock = Clock()
    cache = LocalCache(clock=clock)
    await cache.put("a", b"1", seconds=10)
    await cache.put("a", b"2", seconds=20)
    clock.now = 115
    assert await cache.get("a") == b"2"


async def test_the_unread_go_first() -> None:
    """When there is no room."""
    cache = LocalCache(most=2)
    await cache.put("a", b"1", seconds=10)
    await cache.put("b", b"2", seconds=10)
    await cache.get("a")
    await cache.put("c", b"3", seconds=10)
    assert [await cache.get(key) for key in "abc"] == [b"1", None, b"3"]
