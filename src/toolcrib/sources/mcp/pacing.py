"""This module hands a call's progress on at a pace that whoever watches can bear.

A burst passes at once; what comes faster then is thinned to a few notices a second, of which the
newest is never lost: it is told with the next turn, and before the result at the latest.
"""

from __future__ import annotations

import asyncio
import math
from collections import deque
from contextlib import suppress
from time import monotonic
from types import TracebackType
from typing import Final, Self

from toolcrib.sources.mcp.conversation import Progress

BURST: Final = 20
"""Notices that pass at once."""
RATE: Final = 20.0
"""Notices a second after that."""
PATIENCE: Final = 5.0
"""Seconds that a result waits for whoever is told of the last notices."""
_Notice = tuple[float, float | None, str | None]


def finite(value: object) -> float | None:
    """A number as it can be told; None for what is none, or too large for one."""
    if not isinstance(value, int | float) or isinstance(value, bool):
        return None
    try:
        found = float(value)
    except OverflowError:
        return None
    return found if math.isfinite(found) else None


class Pace:
    """`async with` it around a call, and `note` what the server says; the call never waits for
    the telling, but its result does. What telling raises is nobody's failure."""

    def __init__(self, progress: Progress | None) -> None:
        self._progress = progress
        self._due: deque[_Notice] = deque()
        self._held: _Notice | None = None
        self._allowed = float(BURST)
        self._since = 0.0
        self._teller: asyncio.Task[None] | None = None
        self._over = asyncio.Event()

    def note(self, done: float, total: float | None, message: str | None) -> None:
        if self._progress is None or self._over.is_set():
            return
        if self._held is None and len(self._due) < BURST and self._wait() <= 0:
            self._pass((done, total, message))
        else:
            self._held = (done, total, message)
        if self._teller is None:
            self._teller = asyncio.create_task(self._tell(self._progress))  # noqa: TID251 - awaited

    async def on_progress(self, progress: float, total: float | None, message: str | None) -> None:
        """`note`, in the form that the protocol library calls; what is no number of usual size is
        passed over."""
        done, all_ = finite(progress), finite(total)
        if done is not None:
            self.note(done, all_, message)

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        teller = self._teller
        self._over.set()
        if teller is None:
            return
        try:
            if kind is None or issubclass(kind, Exception):
                await asyncio.wait({teller}, timeout=PATIENCE)
        finally:
            teller.cancel()
        await asyncio.wait({teller})

    def _wait(self) -> float:
        """Seconds until another notice may pass."""
        now = monotonic()
        self._allowed = min(float(BURST), self._allowed + (now - self._since) * RATE)
        self._since = now
        return (1.0 - self._allowed) / RATE

    def _pass(self, notice: _Notice) -> None:
        self._allowed -= 1.0
        self._due.append(notice)

    async def _tell(self, progress: Progress) -> None:
        """Tell what is due, then what is held when its time has come, until there is nothing."""
        while self._due or self._held is not None:
            while self._due:
                notice = self._due.popleft()
                with suppress(Exception):
                    await progress(*notice)
            if self._held is not None:
                await self._until_turn()
                self._pass(self._held)
                self._held = None
        self._teller = None

    async def _until_turn(self) -> None:
        wait = self._wait()
        if wait > 0 and not self._over.is_set():
            with suppress(TimeoutError):
                await asyncio.wait_for(self._over.wait(), wait)
