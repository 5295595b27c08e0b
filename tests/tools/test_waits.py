"""Waits share one timer; one that fails to end costs the others nothing."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from dataclasses import dataclass

from toolcrib.tools.waits import Waits


@dataclass(eq=False)
class One:
    at: float
    end: Callable[[], None]


async def test_one_that_fails_ends_no_other() -> None:
    loop = asyncio.get_running_loop()
    failures: list[object] = []
    loop.set_exception_handler(lambda _, context: failures.append(context["exception"]))
    waits: Waits[One] = Waits()
    later, same = asyncio.Event(), asyncio.Event()
    trouble = RuntimeError("it fails to end")

    def fail() -> None:
        raise trouble

    now = loop.time()
    for one in (One(now, fail), One(now, same.set), One(now + 0.01, later.set)):
        waits.add(one)
    async with asyncio.timeout(20):
        await same.wait()
        await later.wait()
    assert failures == [trouble]
