"""This module sends the head of an answer together with its body, in one write.

The server writes them one after the other, and each write wakes the client up: the first for
nothing.
"""

from __future__ import annotations

import asyncio
from typing import Any, Final, cast

from uvicorn.protocols.http.httptools_impl import HttpToolsProtocol

_LARGEST: Final = 64 * 1024
"""Bytes of a body that are worth being copied behind a head."""


class JoiningProtocol(HttpToolsProtocol):
    """uvicorn's own, over a transport that waits with a head."""

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        joining = _Joining(cast("asyncio.Transport", transport), self.loop)
        super().connection_made(cast("asyncio.Transport", joining))


class _Joining:
    """The transport that it is given, but for `write` and `close`."""

    __slots__ = ("_head", "_loop", "_transport")

    def __init__(self, transport: asyncio.Transport, loop: asyncio.AbstractEventLoop) -> None:
        self._transport = transport
        self._loop = loop
        self._head = b""

    def __getattr__(self, name: str) -> Any:
        return getattr(self._transport, name)

    def write(self, data: bytes) -> None:
        """A head waits for what follows in the same turn of the event loop, and no longer."""
        if self._head and len(data) <= _LARGEST:
            data, self._head = self._head + data, b""
        elif self._head:
            self._flush()
        elif data.startswith(b"HTTP/1.1 ") and data.endswith(b"\r\n\r\n"):
            self._head = data
            self._loop.call_soon(self._flush)
            return
        self._transport.write(data)

    def close(self) -> None:
        self._flush()
        self._transport.close()

    def _flush(self) -> None:
        if self._head:
            head, self._head = self._head, b""
            self._transport.write(head)
