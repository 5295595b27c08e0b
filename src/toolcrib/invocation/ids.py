"""This module makes call ids: 128 bits that sort by time (RFC 9562, version 7)."""

from __future__ import annotations

import os
import random
import time

# Ids are unique, not secret: a generator seeded from the system per process is enough.
_random = random.Random(os.urandom(16))  # noqa: S311
os.register_at_fork(after_in_child=lambda: _random.seed(os.urandom(16)))


def new_call_id() -> str:
    """`call_` and 32 hexadecimal digits: 48 bits of milliseconds, then randomness."""
    millis = time.time_ns() // 1_000_000
    tail = _random.getrandbits(80)
    number = (millis & (2**48 - 1)) << 80 | tail
    number = (number & ~(0xF << 76)) | (0x7 << 76)
    number = (number & ~(0x3 << 62)) | (0x2 << 62)
    return f"call_{number:032x}"
