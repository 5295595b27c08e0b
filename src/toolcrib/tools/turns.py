"""This module keeps long work from holding the event loop: in turns with others, or in a thread."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from time import perf_counter
from typing import TypeVar

T = TypeVar("T")
LONGEST = 0.005
"""Seconds that one turn takes."""
FEW = 500
"""Work on so many things is done where it stands: a thread would cost more."""


class Turns:
    """Work that is done step by step: between two steps others may come in."""

    def __init__(self) -> None:
        self._began = perf_counter()

    async def next(self) -> None:
        """Let others come in if this turn was long enough."""
        if perf_counter() - self._began > LONGEST:
            await asyncio.sleep(0)
            self._began = perf_counter()


async def aside(count: int, work: Callable[[], T]) -> T:
    """What the work returns: in a thread if it is about many things. It must not touch the loop."""
    return work() if count <= FEW else await asyncio.to_thread(work)
