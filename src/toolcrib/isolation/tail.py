"""This module keeps the beginning and the end of a stream, whatever its length."""

from __future__ import annotations


class Kept:
    """At most `size` bytes, half of them from the beginning and half from the end."""

    def __init__(self, size: int) -> None:
        self._half = size // 2
        self._head = bytearray()
        self._tail = bytearray()
        self.total = 0

    def add(self, piece: bytes) -> None:
        self.total += len(piece)
        room = self._half - len(self._head)
        self._head += piece[:room]
        self._tail += piece[room:]
        if len(self._tail) > 2 * self._half:  # cut now and then, not for every piece
            del self._tail[: -self._half]

    @property
    def dropped(self) -> int:
        """How many bytes of the middle are not there."""
        return max(0, self.total - len(self._head) - self._half)

    @property
    def bytes(self) -> bytes:
        """The beginning and the end, without a word about what is between."""
        return bytes(self._head + self._tail[-self._half :])

    def text(self) -> str:
        """The same as text that says how much is left out."""
        head = self._head.decode(errors="replace")
        tail = self._tail[-self._half :].decode(errors="replace")
        middle = f"\n… {self.dropped} bytes left out …\n" if self.dropped else ""
        return head + middle + tail
