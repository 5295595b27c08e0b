"""This module waits for what a tool returned instead of a result: a coroutine, a future, a
generator, an iterator. What a generator yields is collected in a list."""

from __future__ import annotations

import asyncio
import inspect
import threading
from collections.abc import AsyncIterator, Iterator
from concurrent.futures import Future
from contextlib import AsyncExitStack
from functools import partial
from typing import Any, cast

from toolcrib.sources.native.threads import Threads
from toolcrib.sources.native.tool import CannotCall
from toolcrib.tools.result import Output

READY = (str, dict, list, tuple, bytes, int, float, bool, type(None), Output)
"""What is there already, of the types that tools return most."""
MOST_ITEMS = 100_000
MOST_BYTES = 16 * 1024 * 1024
"""How much is collected: a generator may have no end."""


async def waited_for(value: Any, threads: Threads) -> Any:
    """The value itself, once it is there. A generator's own code runs where its function ran.

    Raises CannotCall for a generator that yields too much, and what the tool's code raises.
    """
    while not isinstance(value, READY):
        if inspect.isawaitable(value):
            value = await value
        elif isinstance(value, Future):
            value = await asyncio.wrap_future(cast("Future[Any]", value))
        elif isinstance(value, AsyncIterator):
            return await _yielded(cast("AsyncIterator[Any]", value))
        elif isinstance(value, Iterator):
            return await _yielded_in_thread(cast("Iterator[Any]", value), threads)
        else:
            break
    return cast("Any", value)


class _Collected:
    """The items so far."""

    def __init__(self) -> None:
        self.items: list[Any] = []
        self._size = 0

    def add(self, item: Any) -> None:
        self.items.append(item)
        self._size += len(item) if isinstance(item, str | bytes) else 1
        if len(self.items) > MOST_ITEMS or self._size > MOST_BYTES:
            raise CannotCall(
                "too_large",
                f"The tool went on after {len(self.items)} items; at most {MOST_ITEMS} of "
                f"{MOST_BYTES} bytes in all are collected. Ask for less.",
            )


async def _yielded(source: AsyncIterator[Any]) -> list[Any]:
    made = _Collected()
    async with AsyncExitStack() as stack:
        if (close := getattr(source, "aclose", None)) is not None:
            stack.push_async_callback(close)
        async for item in source:
            made.add(item)
    return made.items


async def _yielded_in_thread(source: Iterator[Any], threads: Threads) -> list[Any]:
    left = threading.Event()
    try:
        return await threads.run(partial(_listed, source, left))
    finally:
        left.set()  # after the deadline nobody waits for more of it


def _listed(source: Iterator[Any], left: threading.Event) -> list[Any]:
    made = _Collected()
    try:
        for item in source:
            made.add(item)
            if left.is_set():
                break
    finally:
        if (close := getattr(source, "close", None)) is not None:
            close()
    return made.items
