"""This module makes call ids: 128 bits that sort by time (RFC 9562, version 7)."""

from __future__ import annotations

import os
import time


def new_call_id() -> str:
    """`call_` and 32 hexadecimal digits: 48 bits of milliseconds, then randomness."""
    millis = time.time_ns() // 1_000_000
    tail = int.from_bytes(os.urandom(10), "big")
    number = (millis & (2**48 - 1)) << 80 | tail
    number = (number & ~(0xF << 76)) | (0x7 << 76)
    number = (number & ~(0x3 << 62)) | (0x2 << 62)
    return f"call_{number:032x}"
