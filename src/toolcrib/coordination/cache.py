"""This module holds what may be forgotten at any time: values with an end, by key."""

from __future__ import annotations

import time
from collections import OrderedDict
from collections.abc import Callable
from typing import Protocol

MOST = 10_000
"""How many values the in-process cache holds; the one unread for longest goes first."""


class Cache(Protocol):
    """Shared between processes where the installation has a place for that.

    A cache that cannot be reached may raise; whoever asks goes on without it.
    """

    async def get(self, key: str) -> bytes | None: ...

    async def put(self, key: str, value: bytes, *, seconds: float) -> None:
        """Keep a value for at most `seconds`."""
        ...

    async def drop(self, prefix: str) -> int:
        """Forget every key that begins so; returns how many there were."""
        ...


class LocalCache:
    """The cache of one process. `clock` gives seconds that never go back."""

    def __init__(self, *, most: int = MOST, clock: Callable[[], float] = time.monotonic) -> None:
        self._most = most
        self._clock = clock
        self._values: OrderedDict[str, tuple[float, bytes]] = OrderedDict()

    async def get(self, key: str) -> bytes | None:
        found = self._values.get(key)
        if found is None:
            return None
        if found[0] <= self._clock():
            del self._values[key]
            return None
        self._values.move_to_end(key)
        return found[1]

    async def put(self, key: str, value: bytes, *, seconds: float) -> None:
        self._values[key] = (self._clock() + seconds, value)
        self._values.move_to_end(key)
        while len(self._values) > self._most:
            self._values.popitem(last=False)

    async def drop(self, prefix: str) -> int:
        gone = [key for key in self._values if key.startswith(prefix)]
        for key in gone:
            del self._values[key]
        return len(gone)
