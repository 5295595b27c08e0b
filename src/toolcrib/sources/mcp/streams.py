"""This module opens the two streams of messages to a server, over HTTP or to a command."""

from __future__ import annotations

from collections.abc import AsyncGenerator
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from typing import Any

from toolcrib.net.streaming import GuardedTransport, StreamingClients
from toolcrib.sources.mcp.authorized import Authorized
from toolcrib.sources.mcp.door import Door
from toolcrib.sources.mcp.mended import Mending
from toolcrib.sources.mcp.own import http_transport
from toolcrib.sources.mcp.refusals import FaultAnswers
from toolcrib.sources.mcp.servers import HttpServer, Server, StdioServer
from toolcrib.sources.mcp.sse import sse_transport
from toolcrib.sources.mcp.stdio import stdio_transport
from toolcrib.sources.mcp.weighing import Weighing

_Streams = tuple[Any, Any, Door | None]


def streams_to(server: Server, clients: StreamingClients) -> AbstractAsyncContextManager[Any]:
    """`(what to read from, what to write to, the door for calls)`, open while the context is.

    Only streamable HTTP has a door; for the other ways it is None.
    """
    if not isinstance(server, HttpServer):
        return _over_pipes(server)
    return _over_http(server, clients)


@asynccontextmanager
async def _over_pipes(server: StdioServer) -> AsyncGenerator[_Streams]:
    async with stdio_transport(server) as (read, write):
        yield read, write, None


@asynccontextmanager
async def _over_http(server: HttpServer, clients: StreamingClients) -> AsyncGenerator[_Streams]:
    bearer = server.auth
    guarded: list[GuardedTransport] = []

    def wrap(inner: GuardedTransport) -> Mending:
        guarded.append(inner)
        asked = inner if bearer is None else Authorized(inner, bearer)
        return Mending(FaultAnswers(Weighing(asked)))

    async with clients.client(server.headers, wrap=wrap) as client:
        door = None
        if server.wire == "sse":
            transport: AbstractAsyncContextManager[Any] = sse_transport(server.url, client)
        else:
            door = Door(client, guarded[0], server.url, bearer)
            transport = http_transport(server.url, client)
        try:
            async with transport as (read, write):
                yield read, write, door
        finally:
            if door is not None:
                await door.aclose()
