"""This module reads a stream of server-sent events, piece by piece, as the HTML standard says."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final

from toolcrib.sources.mcp.resting import named

_BOM: Final = b"\xef\xbb\xbf"


class EventTooLarge(ValueError):
    """One event is larger than is read."""


@dataclass(frozen=True, slots=True)
class Event:
    """`last_id` is the last that the stream named until then; `retry` in milliseconds,
    within bounds."""

    data: bytes
    kind: str = "message"
    last_id: str = ""
    retry: int | None = None


class Events:
    """Feed it; an event comes out with the empty line that ends it."""

    def __init__(self, most: int) -> None:
        self._most = most
        self._open: list[bytes] = []
        self._open_size = 0
        self._begun = False
        self._data: list[bytes] = []
        self._size = 0
        self._kind = ""
        self._last_id = ""
        self._retry: int | None = None
        self._any = False

    def feed(self, piece: bytes) -> Iterator[Event]:
        """Raises EventTooLarge."""
        for line in self._lines(piece):
            if line:
                self._take(line)
            elif self._any:
                yield self._whole()
            else:
                self._size = 0

    def end(self) -> Iterator[Event]:
        """What was only waiting for a line feed that does not come."""
        if self._open and self._open[-1].endswith(b"\r"):
            yield from self.feed(b"\n")

    def _lines(self, piece: bytes) -> list[bytes]:
        """The lines that are whole now. One that ends with a carriage return waits for more: the
        line feed that may follow belongs to it."""
        if not self._begun:
            piece = b"".join([*self._open, piece])
            self._open = []
            if len(piece) < len(_BOM) and _BOM.startswith(piece):
                self._open = [piece]
                return []
            self._begun = True
            piece = piece.removeprefix(_BOM)
        waits = bool(self._open) and self._open[-1].endswith(b"\r")
        if not waits and b"\n" not in piece and b"\r" not in piece:
            self._keep(piece)
            return []
        lines = b"".join([*self._open, piece]).splitlines(keepends=True)
        self._open, self._open_size = [], 0
        if lines and not lines[-1].endswith(b"\n"):
            self._keep(lines.pop())
        return [line.rstrip(b"\r\n") for line in lines]

    def _keep(self, piece: bytes) -> None:
        if piece:
            self._open.append(piece)
            self._open_size += len(piece)
            self._check(self._open_size)

    def _check(self, more: int) -> None:
        if self._size + more > self._most:
            raise EventTooLarge(f"An event is larger than {self._most} bytes.")

    def _take(self, line: bytes) -> None:
        if line.startswith(b":"):
            return
        self._check(len(line))
        self._size += len(line)
        name, _, value = line.partition(b":")
        value = value.removeprefix(b" ")
        match name:
            case b"data":
                self._data.append(value)
            case b"event":
                self._kind = value.decode(errors="replace")
            case b"id" if b"\0" not in value:
                self._last_id = value.decode(errors="replace")
            case b"retry" if value.isdigit():
                self._retry = named(value)
            case _:
                return
        self._any = True

    def _whole(self) -> Event:
        event = Event(b"\n".join(self._data), self._kind or "message", self._last_id, self._retry)
        self._data, self._kind, self._retry = [], "", None
        self._size, self._any = 0, False
        return event
