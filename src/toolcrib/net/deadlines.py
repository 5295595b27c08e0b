"""This module ends exchanges at their deadlines, with one timer for all of them.

A timer of the event loop costs more than all checks of the guard together (a fifth of a call's CPU
with uvloop, since its timers are made and torn down in C for every call). Here a call only enters
a dict and leaves it; the one timer stands at the earliest deadline and moves when it fires.
"""

from __future__ import annotations

import asyncio
from types import TracebackType


class Deadline:
    """`with` it around awaits of one task: raises TimeoutError when they take too long."""

    __slots__ = ("_all", "_cancelling", "_task", "at", "passed")

    def __init__(self, everyone: Deadlines, at: float) -> None:
        self._all = everyone
        self.at = at
        self.passed = False

    def __enter__(self) -> None:
        task = asyncio.current_task()
        if task is None:
            raise RuntimeError("A deadline needs a task.")
        self._task = task
        self._cancelling = task.cancelling()
        self._all.add(self)

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._all.discard(self)
        if not self.passed:
            return
        # A cancellation from elsewhere, at the same moment, stays a cancellation.
        mine = self._task.uncancel() <= self._cancelling
        if mine and kind is not None and issubclass(kind, asyncio.CancelledError):
            raise TimeoutError from error

    def end(self) -> None:
        self.passed = True
        self._task.cancel()


class Deadlines:
    """Every exchange in flight in one event loop."""

    def __init__(self) -> None:
        self._waiting: dict[Deadline, None] = {}
        self._timer: asyncio.TimerHandle | None = None

    def within(self, seconds: float) -> Deadline:
        return Deadline(self, asyncio.get_running_loop().time() + seconds)

    def add(self, deadline: Deadline) -> None:
        self._waiting[deadline] = None
        if self._timer is None or deadline.at < self._timer.when():
            self._set(deadline.at)

    def discard(self, deadline: Deadline) -> None:
        self._waiting.pop(deadline, None)

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
        for deadline in [waiting for waiting in self._waiting if waiting.at <= now]:
            self.discard(deadline)
            deadline.end()
        if self._waiting:
            self._set(min(waiting.at for waiting in self._waiting))
