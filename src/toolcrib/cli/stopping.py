"""This module hears the signals that ask a server to stop, without breaking anything off.

Python's own way raises KeyboardInterrupt in whatever runs at that moment. That may be a callback of
the interpreter, as there are many while modules are imported, and what is raised there is printed
and gone: the signal is lost, and the server runs on.
"""

from __future__ import annotations

import faulthandler
import signal
from collections.abc import Callable, Generator
from contextlib import contextmanager
from functools import partial
from types import FrameType
from typing import Any

SIGNALS = (signal.SIGINT, signal.SIGTERM)
LONGEST = 40.0
"""Seconds after which a process that was asked to stop ends anyway, and says what it was doing.

Requests in flight, tools, servers and the journal have their own limits, which together are less.
"""
Listener = Callable[[int, FrameType | None], Any]


class Stop:
    """From when it is made on, signals do nothing but tell the listener, once there is one."""

    def __init__(self, *, longest: float = LONGEST) -> None:
        self._longest = longest
        self._heard: list[int] = []
        self._listener: Listener | None = None
        self.listen()

    @property
    def asked(self) -> bool:
        return bool(self._heard)

    def listen(self) -> None:
        """Hear the signals, again if somebody else took them meanwhile."""
        for number in SIGNALS:
            signal.signal(number, self._hear)

    def tell(self, listener: Listener) -> None:
        """Tell it of each signal, also of those that came before."""
        self._listener = listener
        for number in self._heard:
            listener(number, None)

    def _hear(self, number: int, frame: FrameType | None) -> None:
        if not self._heard:
            end_within(self._longest)
        self._heard.append(number)
        if self._listener is not None:
            self._listener(number, frame)


def end_at_once() -> None:
    """Until a Stop is made, a signal ends the process: nothing has to be tidied up before."""
    for number in SIGNALS:
        if signal.getsignal(number) is not signal.SIG_IGN:
            signal.signal(number, signal.SIG_DFL)


@contextmanager
def unready(seconds: float) -> Generator[None]:
    """Within, a signal ends the process. Afterwards whoever heard them before does so again, and
    has so many seconds to end it."""
    before = {number: signal.getsignal(number) for number in SIGNALS}
    end_at_once()
    yield
    for number, heard in before.items():
        if callable(heard):
            signal.signal(number, partial(_insisting, heard, seconds))


def _insisting(heard: Listener, seconds: float, number: int, frame: FrameType | None) -> None:
    end_within(seconds)
    heard(number, frame)


def end_within(seconds: float) -> None:
    """End the process after so many seconds with code 1, whatever hangs in it: a thread of C does.

    What each thread was doing is written to stderr.
    """
    faulthandler.dump_traceback_later(seconds, exit=True, file=2)
