"""This module says what the writer needs of a database."""

from __future__ import annotations

from typing import Protocol

from toolcrib.storage.journal.batch import Batch


class Sink(Protocol):
    """A connection of its own, opened when it is needed, used by one thread."""

    def may_pass(self, error: Exception) -> bool:
        """Whether the same batch may be written later: the database is away, busy or full.

        False when it is the batch that cannot be written.
        """
        ...

    def write(self, batch: Batch) -> None:
        """Write all of the batch in one transaction; return once it is on disk.

        Writing a batch again that was written already changes nothing.
        """
        ...

    def drop(self) -> None:
        """Let go of the connection; the next write opens another."""
        ...
