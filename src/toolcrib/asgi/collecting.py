"""This module keeps the garbage collector out of the way of a server's requests.

A full collection looks at every object of the process: a tenth of a second for a server that has
just started, twice that with ten thousand tools, and all requests wait for it. So what has survived
one is set aside, and the next looks only at what came since. Now and then it looks at everything
once more, for what was set aside may be garbage by then.
"""

from __future__ import annotations

import gc
import time
from collections.abc import Callable, Generator, Mapping
from contextlib import contextmanager
from typing import Final

YOUNG: Final = 10_000
"""How many new objects there are before the youngest are looked at. Calls leave no cycles, and
what waits for the journal is more than Python's own 700."""
_FULL: Final = 2
_AGAIN_AFTER: Final = 1800.0
"""Seconds after which a full collection is one of everything."""


class SetAside:
    """A callback of the collector."""

    def __init__(self, *, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._again_at = clock() + _AGAIN_AFTER

    def __call__(self, phase: str, told: Mapping[str, int]) -> None:
        if told["generation"] < _FULL:
            return
        if phase == "stop":
            gc.freeze()
        elif self._clock() >= self._again_at:
            self._again_at = self._clock() + _AGAIN_AFTER
            gc.unfreeze()


@contextmanager
def collecting_rarely() -> Generator[None]:
    """For a process that is a server and nothing else; in the end all is as it was before."""
    usual = gc.get_threshold()
    set_aside = SetAside()
    gc.callbacks.append(set_aside)
    gc.set_threshold(YOUNG, *usual[1:])
    gc.freeze()
    try:
        yield
    finally:
        gc.callbacks.remove(set_aside)
        gc.set_threshold(*usual)
        gc.unfreeze()
