"""This module lets a stream that breaks off rest before it is asked for again, however often and
however soon its server would have it."""

from __future__ import annotations

import re
from typing import Final

FLOOR: Final = 500
"""The least milliseconds before a stream is asked for again."""
CEILING: Final = 24 * 60 * 60 * 1000
_DOUBLED: Final = 5
_KNOWN: Final = 256
_RETRY: Final = re.compile(rb"(?:^|(?<=\r))retry:[^\r]*")


def named(digits: bytes) -> int:
    """The milliseconds that a server names, within bounds."""
    return max(FLOOR, min(int(digits), CEILING)) if len(digits) < 10 else CEILING


def bounded(line: bytes) -> bytes:
    """A line of a stream, with no time of its own that is out of bounds."""
    return _RETRY.sub(_bound, line) if b"retry:" in line else line


def _bound(found: re.Match[bytes]) -> bytes:
    value = found[0].removeprefix(b"retry:").strip()
    return b"retry: %d" % named(value) if value.isdigit() else b"retry-: "


class Rests:
    """Knows how often in a row streams went on with nothing, by the event that they went on from.
    What is known of most streams is forgotten when there are too many."""

    def __init__(self) -> None:
        self._barren: dict[bytes, int] = {}

    def before(self, last_id: bytes) -> float:
        """Seconds to wait, beside what the server names, before it is asked for what follows."""
        times = self._barren.get(last_id, 0)
        return FLOOR / 1000 * 2 ** min(times - 1, _DOUBLED) if times else 0.0

    def over(self, before: bytes, last_id: bytes, *, told: bool) -> None:
        """A stream that went on from one event ended after another; `told`: with data."""
        times = self._barren.pop(before, 0)
        if told:
            return
        if len(self._barren) >= _KNOWN:
            self._barren.clear()
        self._barren[last_id] = times + 1
