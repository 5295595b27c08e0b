"""This module is the thread that writes the journal.

The event loop only appends to a queue. A record that somebody waits for rings the bell: all that
is queued by then is written at once, and whoever came meanwhile shares the next commit. Other
records wait for company, `window` seconds at most.
"""

from __future__ import annotations

import asyncio
import threading
import time
from collections import deque
from collections.abc import Sequence
from typing import NamedTuple

import structlog

from toolcrib.errors import SetupError
from toolcrib.storage.journal.batch import Batch, Item, Waiter
from toolcrib.storage.journal.sink import Sink

log = structlog.get_logger(__name__)


class Pace(NamedTuple):
    """Times are in seconds."""

    window: float = 0.02
    """How long a record that nobody waits for may wait."""
    patience: float = 15.0
    """How long a write is tried again before those who wait for it are told."""
    pause: float = 0.1
    """Between two tries."""
    retry: float = 1.0
    """Between tries for what nobody waits for, while the database is away."""
    backlog: int = 100_000
    """How many calls are kept for a database that is away; older ones are dropped, and logged."""


class Writer:
    """One thread, one connection. `put` is called by the event loop, never waits."""

    def __init__(self, sink: Sink, pace: Pace) -> None:
        self._sink = sink
        self._pace = pace
        self._items: deque[Item] = deque()
        self._kept = Batch()
        self._bell = threading.Event()
        self._idle = self._urgent = self._closing = False
        self._healthy = True
        self._thread = threading.Thread(target=self._run, name="toolcrib-journal", daemon=True)
        self._thread.start()

    def put(self, item: Item) -> None:
        self._items.append(item)
        if self._idle:
            self._bell.set()

    def put_now(self, waiter: Waiter) -> None:
        self._items.append(waiter)
        self._urgent = True
        if not self._bell.is_set():
            self._bell.set()

    async def close(self) -> None:
        """Write what is queued and end the thread."""
        self._closing = True
        self._bell.set()
        await asyncio.to_thread(self._thread.join)

    def _run(self) -> None:
        try:
            while self._wait():
                batch = self._take()
                waiters = tuple(batch.waiters)
                try:
                    self._write(batch)
                except Exception as error:  # noqa: BLE001 - a log that is gone must not end it
                    _settle(waiters, error)
        finally:
            self._sink.drop()

    def _wait(self) -> bool:
        """Return when there is something to write; False when all is written and closed.

        Whoever queues appends first and looks at `_idle` or rings afterwards; here the bell is
        cleared before the queue is emptied. So nothing is left lying.
        """
        self._idle = True
        if not (self._items or self._closing):
            self._bell.wait(self._pace.retry if self._kept else None)
        self._idle = False
        self._bell.clear()
        if not (self._urgent or self._closing):
            self._bell.wait(self._pace.window)
            self._bell.clear()
        self._urgent = False
        return bool(self._items or self._kept) or not self._closing

    def _take(self) -> Batch:
        batch, self._kept = self._kept, Batch()
        for _ in range(len(self._items)):
            batch.add(self._items.popleft())
        return batch

    def _write(self, batch: Batch) -> None:
        if not len(batch):
            _settle(batch.waiters, None)
            return
        try:
            error = self._try(batch)
        except Exception as refused:  # noqa: BLE001 - one record must not hold up the others
            self._write_parts(batch, refused)
            return
        waiters = tuple(batch.waiters)
        if error is not None:
            self._keep(batch, error)
        elif not self._healthy:
            log.info("journal.written_again")
        self._healthy = error is None
        _settle(waiters, error)

    def _try(self, batch: Batch) -> Exception | None:
        """The error that stayed, None once the batch is on disk. Raises what no retry can cure."""
        until = time.monotonic() + (self._pace.patience if self._healthy else 0)
        while True:
            try:
                return self._sink.write(batch)
            except Exception as error:
                self._sink.drop()
                if not self._sink.may_pass(error):
                    raise
                if time.monotonic() >= until:
                    return error
            time.sleep(self._pace.pause)

    def _write_parts(self, batch: Batch, refused: Exception) -> None:
        """Write each call by itself; the one that cannot be written is dropped and named."""
        if len(batch) > 1:
            for part in batch.parts():
                self._write(part)
            return
        _settle(batch.waiters, refused)
        log.error("journal.refused", call_ids=[*batch.starts, *batch.ends][:1], error=str(refused))

    def _keep(self, batch: Batch, error: Exception) -> None:
        batch.forget_waiters()
        dropped = len(batch) if self._closing else batch.trim(self._pace.backlog)
        if self._healthy:
            log.warning("journal.not_written", calls=len(batch), error=str(error))
        if dropped:
            log.error("journal.dropped", calls=dropped, error=str(error))
        if not self._closing:
            self._kept.starts.update(batch.starts)
            self._kept.ends.update(batch.ends)


def _settle(waiters: Sequence[Waiter], error: Exception | None) -> None:
    """Wake all who waited, with one message to their event loop."""
    if waiters:
        try:
            waiters[0].future.get_loop().call_soon_threadsafe(_wake, waiters, error)
        except RuntimeError:
            log.warning("journal.nobody_waits", calls=len(waiters))


def _wake(waiters: Sequence[Waiter], error: Exception | None) -> None:
    for waiter in waiters:
        if waiter.future.done():
            continue
        if error is None:
            waiter.future.set_result(None)
        else:
            waiter.future.set_exception(
                SetupError(
                    f"The journal could not be written: {error}.",
                    hint="See that the database is running and its disk has room.",
                )
            )
