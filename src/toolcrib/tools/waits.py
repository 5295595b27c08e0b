"""This module ends waits when their time is up, with one timer for all of them.

A timer of the event loop costs more than all checks of the guard together (a fifth of a call's CPU
with uvloop, since its timers are made and torn down in C for every call). Here a wait only enters
a dict and leaves it; the one timer stands at the earliest end and moves when it fires.
"""

from __future__ import annotations

import asyncio
from typing import Generic, Protocol, TypeVar


class Wait(Protocol):
    """`at` is when it ends, in seconds of the event loop's clock; `end` is called then, once."""

    at: float

    def end(self) -> None: ...


Kind = TypeVar("Kind", bound=Wait)


class Waits(Generic[Kind]):
    """All waits of one kind in one event loop."""

    def __init__(self) -> None:
        self._waiting: dict[Kind, None] = {}
        self._timer: asyncio.TimerHandle | None = None

    def add(self, wait: Kind) -> None:
        self._waiting[wait] = None
        if self._timer is None or wait.at < self._timer.when():
            self._set(wait.at)

    def discard(self, wait: Kind) -> None:
        """It is not to be ended any more."""
        self._waiting.pop(wait, None)

    def close(self) -> None:
        """Nobody is waiting any more."""
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None

    def _set(self, at: float) -> None:
        self.close()
        self._timer = asyncio.get_running_loop().call_at(at, self._fire)

    def _fire(self) -> None:
        now = asyncio.get_running_loop().time()
        self._timer = None
        try:
            for wait in [waiting for waiting in self._waiting if waiting.at <= now]:
                self.discard(wait)
                wait.end()
        finally:  # one that fails to end costs the others a moment, not their end
            if self._waiting:
                self._set(min(waiting.at for waiting in self._waiting))
