"""This module gathers what is written together: a start and its end become one row."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from dataclasses import dataclass, field

from toolcrib.invocation.journal import CallEnd, CallStart


@dataclass(slots=True, eq=False)
class Waiter:
    """Somebody who waits until `start`, and all that was queued before it, is on disk."""

    start: CallStart | None
    future: asyncio.Future[None]


Item = CallStart | CallEnd | Waiter


@dataclass(slots=True)
class Batch:
    """Records for one transaction, by call_id."""

    starts: dict[str, CallStart] = field(default_factory=dict[str, CallStart])
    ends: dict[str, CallEnd] = field(default_factory=dict[str, CallEnd])
    waiters: list[Waiter] = field(default_factory=list[Waiter])

    def add(self, item: Item) -> None:
        if isinstance(item, CallEnd):
            self.ends[item.call_id] = item
            return
        start = item
        if isinstance(item, Waiter):
            self.waiters.append(item)
            start = item.start
        if isinstance(start, CallStart):
            self.starts[start.call_id] = start

    def __len__(self) -> int:
        return len(self.starts.keys() | self.ends.keys())

    @property
    def whole(self) -> list[tuple[CallStart, CallEnd | None]]:
        """Rows to insert: calls that began, with their ends where they have come already."""
        return [(start, self.ends.get(call_id)) for call_id, start in self.starts.items()]

    @property
    def later(self) -> list[CallEnd]:
        """Ends of calls whose start was written before."""
        return [end for call_id, end in self.ends.items() if call_id not in self.starts]

    def parts(self) -> Iterator[Batch]:
        """One batch for each call, with its waiter; those who wait for all come last."""
        waiting = {w.start.call_id: w for w in self.waiters if w.start is not None}
        for call_id in list(dict.fromkeys([*self.starts, *self.ends])):
            yield Batch(
                starts={call_id: self.starts[call_id]} if call_id in self.starts else {},
                ends={call_id: self.ends[call_id]} if call_id in self.ends else {},
                waiters=[waiting[call_id]] if call_id in waiting else [],
            )
        yield Batch(waiters=[w for w in self.waiters if w.start is None])

    def forget_waiters(self) -> None:
        """Their calls were told of the failure and are not sent: nothing is left to record."""
        for waiter in self.waiters:
            if waiter.start is not None and waiter.start.call_id not in self.ends:
                self.starts.pop(waiter.start.call_id, None)
        self.waiters.clear()

    def trim(self, longest: int) -> int:
        """Drop the oldest records beyond `longest`; returns how many."""
        over = max(0, len(self.starts) - longest) + max(0, len(self.ends) - longest)
        for records in (self.starts, self.ends):
            while len(records) > longest:
                records.pop(next(iter(records)))
        return over
