"""This module ends streams whose listener may not listen any more.

A request is let in once, and a stream stays open for hours: in between a token is revoked or
expires, and an agent goes out of reach. To whoever serves the stream it looks as if the client had
gone.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from typing import Final

from starlette.types import Message, Receive

from toolcrib.errors import AccessError, NotFound, RequestError

EVERY: Final = 5.0
"""Seconds between two looks."""
StillIn = Callable[[], Awaitable[object]]
"""Raises AccessError or RequestError when the request would not be let in any more."""


def lasting(receive: Receive, still_in: StillIn | None, *, every: float = EVERY) -> Receive:
    """The same `receive`, which tells of a client that is gone once it would not be let in."""
    if still_in is None:
        return receive
    ask = still_in

    async def receive_while_let_in() -> Message:
        while True:
            try:
                async with asyncio.timeout(every):
                    return await receive()
            except TimeoutError:
                if not await _is_in(ask):
                    return {"type": "http.disconnect"}

    return receive_while_let_in


async def _is_in(still_in: StillIn) -> bool:
    """A database that is away for a moment ends nothing: it says nothing of the listener."""
    try:
        await still_in()
    except (AccessError, RequestError, NotFound):
        return False
    except Exception:  # noqa: BLE001 - asked again in a moment
        return True
    return True
