"""This module answers one request: as JSON, or as a stream of events once something is told before.

A client that is gone ends its call; one that waits long hears that the server is still there.
"""

from __future__ import annotations

import asyncio
import contextlib
from types import TracebackType
from typing import Final, Self

from starlette.types import Receive, Send

from toolcrib.surfaces.mcp.wire import event, send_json
from toolcrib.tools.waits import Waits

WATCH_AFTER: Final = 0.25
"""Seconds that a call runs before anybody looks whether its client is still there."""
PING_EVERY: Final = 15.0
"""Seconds of silence after which a proxy might take the connection for dead."""
_HEADERS: Final = [
    (b"content-type", b"text/event-stream"),
    (b"cache-control", b"no-cache, no-transform"),
    (b"x-accel-buffering", b"no"),
]


class Reply:
    """One answer on its way. It is a stream from the first thing on that is told before its end."""

    def __init__(self, send: Send) -> None:
        self._send = send
        self._streams = False
        self._ended = False

    async def tell(self, message: bytes) -> None:
        """Send a notification that belongs to the request."""
        await self._write(event(message))

    async def ping(self) -> None:
        await self._write(b": ping\r\n\r\n")

    async def end(self, message: bytes, *, status: int = 200) -> None:
        """Send the response. The status counts only where nothing was told before."""
        self._ended = True
        if not self._streams:
            await send_json(self._send, message, status=status)
            return
        body = event(message)
        await self._send({"type": "http.response.body", "body": body, "more_body": False})

    async def _write(self, chunk: bytes) -> None:
        if self._ended:
            return
        if not self._streams:
            self._streams = True
            start = {"type": "http.response.start", "status": 200, "headers": _HEADERS}
            await self._send(start)
        await self._send({"type": "http.response.body", "body": chunk, "more_body": True})


class Attending:
    """While it is entered, the call is cancelled when the client goes away.

    Looking costs a task, so that it begins only when a call takes a while, which `waits` tells.
    """

    __slots__ = ("_cancelled", "_looking", "_receive", "_reply", "_task", "_waits", "at")

    def __init__(self, receive: Receive, reply: Reply, waits: Waits[Attending]) -> None:
        self._receive = receive
        self._reply = reply
        self._waits = waits
        self._looking: asyncio.Task[None] | None = None
        self._cancelled = False

    async def __aenter__(self) -> Self:
        loop = asyncio.get_running_loop()
        self.at = loop.time() + WATCH_AFTER
        self._waits.add(self)
        self._task = asyncio.current_task(loop)
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> bool:
        self._waits.discard(self)
        if self._cancelled and kind is None:  # it ended in the moment in which it was cancelled
            with contextlib.suppress(asyncio.CancelledError):
                await asyncio.sleep(0)
        if self._looking is not None:
            self._looking.cancel()
            await asyncio.wait({self._looking})
        if not self._cancelled or self._task is None:
            return False
        return self._task.uncancel() == 0 and kind in {None, asyncio.CancelledError}

    def cancel(self) -> None:
        """End the call; whoever entered goes on behind it."""
        if not self._cancelled and self._task is not None:
            self._cancelled = True
            self._task.cancel()

    @property
    def cancelled(self) -> bool:
        return self._cancelled

    def end(self) -> None:
        """The wait is over: begin to look."""
        self._looking = asyncio.get_running_loop().create_task(self._look())

    async def _look(self) -> None:
        while True:
            try:
                async with asyncio.timeout(PING_EVERY):
                    message = await self._receive()
            except TimeoutError:
                await self._reply.ping()
                continue
            if message["type"] == "http.disconnect":
                self.cancel()
                return
