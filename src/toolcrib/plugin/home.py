"""This module brings work back to the event loop that owns the stores.

A plugin may await the host from a loop of its own (an async `register`, a tool that runs a loop
in its thread); database connections belong to the loop that opened them.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Coroutine
from typing import Any, TypeVar

T = TypeVar("T")


class Home:
    """The loop that runs when this is made, if any."""

    def __init__(self) -> None:
        try:
            self._loop: asyncio.AbstractEventLoop | None = asyncio.get_running_loop()
        except RuntimeError:
            self._loop = None

    async def run(self, work: Callable[[], Coroutine[Any, Any, T]]) -> T:
        """Await `work()` at home; context variables go with it."""
        home = self._loop
        if home is None or home.is_closed() or home is asyncio.get_running_loop():
            return await work()
        return await asyncio.wrap_future(asyncio.run_coroutine_threadsafe(work(), home))
