"""This module makes call ids: 128 bits that sort by time (RFC 9562, version 7).

Ids of one process sort in the order in which they were made, also within a millisecond and when the
clock is set back: the journal lists calls by them.
"""

from __future__ import annotations

import os
import random
import time
from collections.abc import Callable


def _milliseconds() -> int:
    return time.time_ns() // 1_000_000


class CallIds:
    """Makes ids one after the other. `clock` tells milliseconds since 1970."""

    __slots__ = ("_clock", "_count", "_last", "_random")

    def __init__(self, clock: Callable[[], int] = _milliseconds) -> None:
        self._clock = clock
        # Ids are unique, not secret: a generator seeded from the system per process is enough.
        self._random = random.Random(os.urandom(16))  # noqa: S311
        self._last = 0
        self._count = 0

    def seed(self) -> None:
        """Go on differently from here: a forked process makes ids of its own."""
        self._random.seed(os.urandom(16))

    def __call__(self) -> str:
        """`call_` and 32 hexadecimal digits: 48 bits of milliseconds, 12 that count, randomness."""
        millis = self._clock()
        if millis > self._last:
            self._last, self._count = millis, 0
        elif self._count < 0xFFF:
            self._count += 1
        else:
            self._last, self._count = self._last + 1, 0
        number = (self._last & (2**48 - 1)) << 80 | 0x7 << 76 | self._count << 64
        return f"call_{number | 0x2 << 62 | self._random.getrandbits(62):032x}"


new_call_id = CallIds()
os.register_at_fork(after_in_child=new_call_id.seed)
