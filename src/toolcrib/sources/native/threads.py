"""This module runs blocking functions in daemon threads that may be left behind.

asyncio's own executor has a few threads for the whole process and waits for all of them at the
end: some tools that never return would stop the server, and then keep it from stopping.
"""

from __future__ import annotations

import asyncio
import queue
import threading
from collections.abc import Callable
from contextvars import Context, copy_context
from typing import Any, TypeVar, cast

from toolcrib.errors import CallRefused

T = TypeVar("T")
AT_ONCE = 64
"""How many functions run at the same time; more wait."""
MOST_LEFT = 256
"""How many may be left behind before no more are started."""


class Threads:
    """Threads are made when they are needed and then kept."""

    def __init__(self, *, at_once: int = AT_ONCE, most_left: int = MOST_LEFT) -> None:
        self._jobs: queue.SimpleQueue[_Job] = queue.SimpleQueue()
        self._lock = threading.Lock()
        self._at_once = at_once
        self._most_left = most_left
        self._threads = 0
        self._pending = 0
        self._left = 0

    async def run(self, function: Callable[[], T]) -> T:
        """Call it in a thread, in a copy of this context; raises what it raises.

        Cancelling this leaves the thread behind. Raises CallRefused when too many already are.
        """
        if self._left >= self._most_left:
            raise CallRefused(
                f"{self._left} calls of blocking tools never ended, so no more are started.",
                hint="Restart the server, and give those tools time limits of their own.",
            )
        job = _Job(function, copy_context(), asyncio.get_running_loop())
        with self._lock:
            self._pending += 1
        self._jobs.put(job)
        self._staff()
        try:
            value, error = await job.ended
        except asyncio.CancelledError:
            self._leave(job)
            raise
        if error is not None:
            raise error
        return cast("T", value)

    def _leave(self, job: _Job) -> None:
        with self._lock:
            if job.state == "running":
                job.state = "left"
                self._threads -= 1
                self._pending -= 1
                self._left += 1
            elif job.state == "waiting":
                job.state = "left"
        self._staff()

    def _staff(self) -> None:
        """Start a thread if there is more to do than there are threads to do it."""
        with self._lock:
            if self._pending <= self._threads or self._threads >= self._at_once:
                return
            self._threads += 1
        threading.Thread(target=self._work, name="toolcrib-tool", daemon=True).start()

    def _work(self) -> None:
        while True:
            job = self._jobs.get()
            with self._lock:
                skip = job.state == "left"
                if not skip:
                    job.state = "running"
            if not skip:
                job.run()
            with self._lock:
                replaced = not skip and job.state == "left"
                if replaced:  # another thread may have taken this one's place
                    self._left -= 1
                else:
                    job.state = "ended"
                    self._pending -= 1
            if replaced:
                return


class _Job:
    def __init__(
        self, function: Callable[[], Any], context: Context, loop: asyncio.AbstractEventLoop
    ) -> None:
        self.state = "waiting"
        self.ended: asyncio.Future[tuple[Any, BaseException | None]] = loop.create_future()
        self._function = function
        self._context = context
        self._loop = loop

    def run(self) -> None:
        """Never raises; an exception travels as a value, for a future refuses StopIteration."""
        value: Any = None
        error: BaseException | None = None
        try:
            value = self._context.run(self._function)
        except BaseException as raised:  # noqa: BLE001 - SystemExit in a tool is only its own end
            error = RuntimeError(f"{raised!r} in a thread") if _is_signal(raised) else raised
        try:
            self._loop.call_soon_threadsafe(self._settle, value, error)
        except RuntimeError:  # the loop is closed: nobody waits any more
            return

    def _settle(self, value: Any, error: BaseException | None) -> None:
        if not self.ended.done():
            self.ended.set_result((value, error))


def _is_signal(error: BaseException) -> bool:
    """Raised in a thread these are the tool's own doing; raised in the loop they mean more."""
    return isinstance(error, KeyboardInterrupt | GeneratorExit | asyncio.CancelledError)
