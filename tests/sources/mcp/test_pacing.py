"""Progress comes at a bearable pace, its newest notice always, and leaves no task behind."""

from __future__ import annotations

import asyncio

import pytest

from tests.sources.mcp.conftest import until
from toolcrib.sources.mcp import pacing
from toolcrib.sources.mcp.pacing import BURST, Pace

Told = list[tuple[float, float | None, str | None]]


def watcher() -> tuple[Told, pacing.Progress]:
    told: Told = []

    async def watch(done: float, total: float | None, message: str | None) -> None:
        told.append((done, total, message))

    return told, watch


async def test_a_few_notices_all_come_in_their_order() -> None:
    told, watch = watcher()
    async with Pace(watch) as pace:
        for number in range(BURST):
            pace.note(number, BURST, f"step {number}")
    assert told == [(number, BURST, f"step {number}") for number in range(BURST)]


async def test_of_a_flood_a_burst_comes_and_the_newest() -> None:
    """What lies between is thinned out; the last one is there before the block is left."""
    told, watch = watcher()
    async with Pace(watch) as pace:
        for number in range(10_000):
            pace.note(number, None, None)
    assert [done for done, _, _ in told[:BURST]] == list(range(BURST))
    assert told[-1] == (9_999, None, None)
    assert len(told) < 200


async def test_the_newest_is_told_while_the_call_goes_on() -> None:
    """A notice that was held back does not wait for the result."""
    newest = asyncio.Event()

    async def watch(done: float, total: float | None, message: str | None) -> None:
        if message == "newest":
            newest.set()

    async with Pace(watch) as pace:
        for number in range(10 * BURST):
            pace.note(number, None, None)
        pace.note(1000, None, "newest")
        async with asyncio.timeout(60):
            await newest.wait()


async def test_a_slow_watcher_holds_up_no_notice_and_sees_the_newest() -> None:
    told: list[float] = []
    gate = asyncio.Event()

    async def watch(done: float, total: float | None, message: str | None) -> None:
        await gate.wait()
        told.append(done)

    async with Pace(watch) as pace:
        for number in range(1000):
            pace.note(number, None, None)
            await asyncio.sleep(0)
        gate.set()
    assert told[-1] == 999
    assert len(told) < 200


async def test_a_watcher_that_hangs_holds_up_the_result_for_a_while_only(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(pacing, "PATIENCE", 0.05)
    before = asyncio.all_tasks()

    async def watch(done: float, total: float | None, message: str | None) -> None:
        await asyncio.Event().wait()

    async with asyncio.timeout(60):
        async with Pace(watch) as pace:
            pace.note(1, None, None)
    assert asyncio.all_tasks() == before


async def test_what_a_watcher_raises_ends_nothing() -> None:
    told: list[float] = []

    async def watch(done: float, total: float | None, message: str | None) -> None:
        told.append(done)
        raise ValueError("the watcher's own")

    async with Pace(watch) as pace:
        pace.note(1, None, None)
        pace.note(2, None, None)
    assert told == [1, 2]


async def test_a_cancelled_call_tells_nothing_more() -> None:
    before = asyncio.all_tasks()
    told, watch = watcher()

    async def call() -> None:
        async with Pace(watch) as pace:
            for number in range(10 * BURST):
                pace.note(number, None, None)
            await asyncio.Event().wait()

    task = asyncio.create_task(call())
    await until(lambda: told)
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    assert asyncio.all_tasks() == before
    assert len(told) <= BURST + 1
