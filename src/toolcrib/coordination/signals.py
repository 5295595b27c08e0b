"""This module counts changes: a topic's generation number rises whenever something in it changed.

Caches key what they hold by the numbers they depend on, so a stale entry is never read again.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import Literal, Protocol

Topic = Literal["catalog", "grants", "identity", "settings", "plugins", "documents", "mcp", "pins"]
Listener = Callable[[Topic], Awaitable[None]]


class Signals(Protocol):
    """Generation numbers, known in this process and followed from the others."""

    def generation(self, topic: Topic) -> int:
        """The number as this process knows it; never waits."""
        ...

    @property
    def total(self) -> int:
        """A number that rises with every change of any topic; reading it costs nothing."""
        ...

    async def bump(self, topic: Topic) -> int:
        """Raise the number for every process. Call it after the change was committed."""
        ...

    def subscribe(self, listener: Listener) -> None:
        """Await `listener(topic)` when another process or this one bumped the topic."""
        ...

    async def run(self) -> None:
        """Follow the other processes until cancelled. The platform's task group runs it."""
        ...

    async def refresh(self) -> None:
        """Read the shared numbers now."""
        ...
