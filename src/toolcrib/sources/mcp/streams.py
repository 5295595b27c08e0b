"""This module opens the two streams of messages to a server, over HTTP or to a command."""

from __future__ import annotations

from collections.abc import AsyncGenerator
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from typing import Any

import httpx2
from mcp.client.streamable_http import streamable_http_client

from toolcrib.net.streaming import StreamingClients
from toolcrib.sources.mcp.authorized import Authorized
from toolcrib.sources.mcp.faults import FaultAnswers
from toolcrib.sources.mcp.limits import BODY_LIMIT
from toolcrib.sources.mcp.servers import HttpServer, Server
from toolcrib.sources.mcp.sse import sse_transport
from toolcrib.sources.mcp.stdio import stdio_transport


def streams_to(server: Server, clients: StreamingClients) -> AbstractAsyncContextManager[Any]:
    """`(what to read from, what to write to)`, open while the context is."""
    if not isinstance(server, HttpServer):
        return stdio_transport(server)
    return _over_http(server, clients)


@asynccontextmanager
async def _over_http(server: HttpServer, clients: StreamingClients) -> AsyncGenerator[Any]:
    bearer = server.auth

    def wrap(inner: httpx2.AsyncBaseTransport) -> FaultAnswers:
        return FaultAnswers(inner if bearer is None else Authorized(inner, bearer))

    async with clients.client(server.headers, wrap=wrap) as client:
        if server.wire == "sse":
            transport: AbstractAsyncContextManager[Any] = sse_transport(server.url, client)
        else:
            transport = streamable_http_client(
                server.url, http_client=client, max_sse_event_size=BODY_LIMIT
            )
        async with transport as streams:
            yield streams
