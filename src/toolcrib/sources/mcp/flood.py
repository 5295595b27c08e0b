"""This module counts what a server sends unasked, and says when it is a flood."""

from __future__ import annotations

from time import monotonic
from typing import Final

MOST: Final = 5000
"""Unasked messages within a second that a connection survives."""


class Flood:
    """Ask it once per unasked message."""

    def __init__(self, most: int = MOST) -> None:
        self._most = most
        self._since = monotonic()
        self._count = 0

    def too_much(self) -> bool:
        self._count += 1
        if self._count < self._most:
            return False
        now = monotonic()
        if now - self._since < 1.0:
            return True
        self._since, self._count = now, 0
        return False
