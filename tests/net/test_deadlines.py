"""This module checks that one timer keeps many deadlines."""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncIterator

import pytest

from toolcrib.net.deadlines import Deadlines


@pytest.fixture
async def deadlines() -> AsyncIterator[Deadlines]:
    """All the deadlines of one loop."""
    everyone = Deadlines()
    yield everyone
    everyone.close()


async def forever() -> None:
    await asyncio.get_running_loop().create_future()


async def test_what_is_in_time_is_left_alone(deadlines: Deadlines) -> None:
    """Results and errors pass through."""
    with deadlines.within(30):
        assert await asyncio.sleep(0, "done") == "done"
    with pytest.raises(KeyError), deadlines.within(30):
        raise KeyError("mine")


async def test_what_is_late_ends_with_a_timeout(deadlines: Deadlines) -> None:
    """Not before its time, and the task can go on afterwards."""
    started = time.monotonic()
    with pytest.raises(TimeoutError), deadlines.within(0.1):
        await forever()
    assert time.monotonic() - started >= 0.099
    assert await asyncio.sleep(0, "goes on") == "goes on"


async def test_each_ends_at_its_own_time(deadlines: Deadlines) -> None:
    """Whatever the order in which they come: none ends early, the longest is not cut."""
    loop = asyncio.get_running_loop()
    began = loop.time()
    ended: dict[float, float] = {}
    all_ended = asyncio.Event()

    async def wait(seconds: float) -> None:
        with pytest.raises(TimeoutError), deadlines.within(seconds):
            await forever()
        ended[seconds] = loop.time() - began
        if len(ended) == 4:
            all_ended.set()

    async def fine() -> None:
        with deadlines.within(100):
            await all_ended.wait()

    await asyncio.gather(fine(), *(wait(seconds) for seconds in (0.2, 0.05, 0.3, 0.1)))
    assert [seconds for seconds, after in ended.items() if after < seconds - 0.001] == []


async def test_no_time_at_all_is_late(deadlines: Deadlines) -> None:
    """Zero and negative seconds end at the first wait."""
    for seconds in (0, -1):
        with pytest.raises(TimeoutError), deadlines.within(seconds):
            await forever()


async def test_a_cancellation_from_elsewhere_stays_one(deadlines: Deadlines) -> None:
    """Even when the deadline passes at the same moment."""

    async def wait() -> None:
        with deadlines.within(0.05):
            await forever()

    early = asyncio.create_task(wait())
    await asyncio.sleep(0)
    early.cancel()
    with pytest.raises(asyncio.CancelledError):
        await early
    both = asyncio.create_task(wait())
    await asyncio.sleep(0)
    for deadline in list(deadlines._waiting):
        deadline.end()
    both.cancel()
    with pytest.raises(asyncio.CancelledError):
        await both


async def test_deadlines_nest(deadlines: Deadlines) -> None:
    """The outer one that passes is not taken for the inner one, nor the other way round."""
    inner: list[str] = []

    async def wait() -> None:
        with deadlines.within(0.05):
            try:
                with deadlines.within(30):
                    await forever()
            except BaseException as error:
                inner.append(type(error).__name__)
                raise

    with pytest.raises(TimeoutError):
        await wait()
    assert inner == ["CancelledError"]
    with deadlines.within(30):
        with pytest.raises(TimeoutError), deadlines.within(0.05):
            await forever()
        assert await asyncio.sleep(0, "goes on") == "goes on"
    async with asyncio.timeout(30):
        with pytest.raises(TimeoutError), deadlines.within(0.05):
            await forever()


async def test_nothing_is_left_behind(deadlines: Deadlines) -> None:
    """No entry after the end, and no timer for nobody."""
    with deadlines.within(0.01):
        pass
    assert deadlines._waiting == {}
    async with asyncio.timeout(60):
        while deadlines._timer is not None:  # noqa: ASYNC110  # a timer tells nobody
            await asyncio.sleep(0.005)
