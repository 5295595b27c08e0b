"""This module ends exchanges at their deadlines, with one timer for all of them."""

from __future__ import annotations

import asyncio
from types import TracebackType

from toolcrib.tools.waits import Waits


class Deadline:
    """`with` it around awaits of one task: raises TimeoutError when they take too long."""

    __slots__ = ("_all", "_cancelling", "_task", "at", "passed")

    def __init__(self, everyone: Deadlines, at: float, task: asyncio.Task[object]) -> None:
        self._all = everyone
        self._task = task
        self.at = at
        self.passed = False

    def __enter__(self) -> None:
        self._cancelling = self._task.cancelling()
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


class Deadlines(Waits[Deadline]):
    """Every exchange in flight in one event loop."""

    def within(self, seconds: float) -> Deadline:
        """A deadline of the present task."""
        loop = asyncio.get_running_loop()
        task = asyncio.current_task(loop)
        if task is None:
            raise RuntimeError("A deadline needs a task.")
        return Deadline(self, loop.time() + seconds, task)
