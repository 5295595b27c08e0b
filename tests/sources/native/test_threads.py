"""Threads for blocking functions: reused, limited, and left behind without harm."""

from __future__ import annotations

import asyncio
import threading
from contextvars import ContextVar

import pytest

from tests.support.packages import run_python
from toolcrib.errors import CallRefused
from toolcrib.sources.native.threads import Threads

_name: ContextVar[str] = ContextVar("name", default="none")


async def test_a_value_comes_back_and_a_thread_is_used_again() -> None:
    """One after the other they share a thread; the context is a copy."""
    threads = Threads()

    def work() -> tuple[int, str]:
        seen = _name.get()
        _name.set("inside")
        return threading.get_ident(), seen

    _name.set("outside")
    first, second = await threads.run(work), await threads.run(work)
    assert first == second == (first[0], "outside")
    assert first[0] != threading.get_ident()
    assert _name.get() == "outside"


async def test_functions_run_side_by_side_up_to_the_limit() -> None:
    """All of them are inside at once, and one more waits for a free thread."""
    threads = Threads(at_once=3)
    barrier = threading.Barrier(3)
    results = await asyncio.gather(*(threads.run(lambda: barrier.wait(60)) for _ in range(6)))
    assert sorted(results) == [0, 0, 1, 1, 2, 2]


async def test_one_that_never_returns_costs_a_thread_and_not_its_place() -> None:
    """Cancelled while it runs, it is left behind; the next one runs in another thread."""
    threads = Threads(at_once=1)
    go, begun = threading.Event(), threading.Event()

    def hang() -> bool:
        begun.set()
        return go.wait(100)

    task = asyncio.create_task(threads.run(hang))
    waiting = asyncio.create_task(threads.run(threading.get_ident))
    skipped = asyncio.create_task(threads.run(lambda: pytest.fail("it was cancelled in time")))
    assert await asyncio.to_thread(begun.wait, 60)
    skipped.cancel()
    task.cancel()
    assert isinstance(await asyncio.wait_for(waiting, 60), int)
    assert await asyncio.wait_for(threads.run(lambda: "next"), 60) == "next"
    go.set()
    with pytest.raises(asyncio.CancelledError):
        await task


async def test_too_many_left_behind_are_refused() -> None:
    """A process does not drown in threads; it says what to do."""
    threads = Threads(most_left=2)
    go = threading.Event()
    begun = threading.Semaphore(0)

    def hang() -> None:
        begun.release()
        go.wait(100)

    for _ in range(2):
        task = asyncio.create_task(threads.run(hang))
        assert await asyncio.to_thread(begun.acquire, timeout=60)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
    with pytest.raises(CallRefused, match="2 calls of blocking tools never ended"):
        await threads.run(lambda: None)
    go.set()
    while True:  # they end, and there is room again
        try:
            assert await threads.run(lambda: "room") == "room"
            break
        except CallRefused:
            await asyncio.sleep(0.01)


def test_a_process_ends_though_a_tool_never_does() -> None:
    """asyncio's own executor would wait for ever."""
    done = run_python(
        """
        import asyncio, threading
        from toolcrib.sources.native.threads import Threads
        async def main():
            try:
                async with asyncio.timeout(0.2):
                    await Threads().run(threading.Event().wait)
            except TimeoutError:
                print("left behind")
        asyncio.run(main())
        """,
        timeout=100,
    )
    assert (done.stdout, done.returncode) == ("left behind\n", 0)
