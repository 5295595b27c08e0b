"""This module speaks MCP over the older pair of HTTP endpoints: one event stream, one for POSTs.

Every message is posted in a task of its own: a slow or failed POST is its own call's, and nobody
else's.
"""

from __future__ import annotations

from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager, suppress
from urllib.parse import urljoin, urlsplit

import anyio
import httpx2
import mcp_types as types
from anyio.streams.memory import MemoryObjectReceiveStream, MemoryObjectSendStream
from mcp.shared.message import SessionMessage

from toolcrib.errors import SourceProtocolError
from toolcrib.net.streaming import EVENTS
from toolcrib.sources.mcp.flood import Flood
from toolcrib.sources.mcp.limits import BODY_LIMIT
from toolcrib.sources.mcp.mending import messages_of
from toolcrib.sources.mcp.weighing import TooMuch, aside

_Out = MemoryObjectSendStream[SessionMessage | Exception]
_In = MemoryObjectReceiveStream[SessionMessage]
_Messages = MemoryObjectReceiveStream[SessionMessage | Exception]
_Sink = MemoryObjectSendStream[SessionMessage]


@asynccontextmanager
async def sse_transport(
    url: str, client: httpx2.AsyncClient
) -> AsyncGenerator[tuple[_Messages, _Sink]]:
    """Open the stream, learn where to post, and give the streams.

    Raises SourceProtocolError for an answer that is no such stream, httpx2's errors for none.
    """
    given, received = anyio.create_memory_object_stream[SessionMessage | Exception](0)
    sent, taken = anyio.create_memory_object_stream[SessionMessage](0)
    async with given, received, sent, taken, client.stream("GET", url, headers=_ASKED) as response:
        _require_events(response)
        events = httpx2.EventSource(response, max_event_size=BODY_LIMIT)
        async with anyio.create_task_group() as group:
            endpoint = await group.start(_read, url, events, given)
            group.start_soon(_post_all, client, endpoint, taken, given.clone())
            try:
                yield received, sent
            finally:
                group.cancel_scope.cancel()


_ASKED = {"Accept": EVENTS, "Cache-Control": "no-store"}


def _require_events(response: httpx2.Response) -> None:
    kind = response.headers.get("Content-Type", "").partition(";")[0].strip().lower()
    if response.status_code != 200 or kind != EVENTS:
        raise SourceProtocolError(
            f"The server answered HTTP {response.status_code} {kind or 'without a type'}, "
            "not an event stream.",
            sent=True,
        )


async def _read(
    url: str,
    events: httpx2.EventSource,
    given: _Out,
    *,
    task_status: anyio.abc.TaskStatus[str] = anyio.TASK_STATUS_IGNORED,
) -> None:
    """Hand on the messages until the stream ends or breaks: then the connection is over."""
    flood = Flood()
    known = False
    async with given:
        try:
            async for event in events:
                if event.event == "endpoint" and not known:
                    task_status.started(_endpoint(url, event.data))
                    known = True
                elif event.event == "message" and event.data:
                    await _hand_on(event.data, given)
                if flood.too_much():
                    break
        except httpx2.TransportError:
            pass
    if not known:
        raise SourceProtocolError(
            "The server's event stream ended before it said where to post.", sent=True
        )


async def _hand_on(data: str, given: _Out) -> None:
    try:
        messages = await aside(messages_of, data.encode("utf-8", "replace"))
    except TooMuch as error:
        raise SourceProtocolError(str(error), sent=True) from None
    for message in messages:
        await given.send(SessionMessage(message))


def _endpoint(url: str, told: str) -> str:
    """Where to post. It must be at the origin that the operator named."""
    endpoint = urljoin(url, told.strip())
    here, there = urlsplit(url), urlsplit(endpoint)
    if (here.scheme, here.netloc) != (there.scheme, there.netloc):
        raise SourceProtocolError(
            "The server wants its messages sent to another origin.", sent=True
        )
    return endpoint


async def _post_all(client: httpx2.AsyncClient, endpoint: str, taken: _In, given: _Out) -> None:
    async with taken, given, anyio.create_task_group() as group:
        async for message in taken:
            group.start_soon(_post, client, endpoint, message.message, given)


async def _post(
    client: httpx2.AsyncClient, endpoint: str, message: types.JSONRPCMessage, given: _Out
) -> None:
    body = message.model_dump(by_alias=True, mode="json", exclude_unset=True)
    response = await client.post(endpoint, json=body)
    if response.status_code < 300 or not isinstance(message, types.JSONRPCRequest):
        return
    try:
        told = types.jsonrpc_message_adapter.validate_json(response.content, by_name=False)
    except ValueError:
        told = None
    error = types.ErrorData(
        code=types.INTERNAL_ERROR, message=f"The server answered HTTP {response.status_code}."
    )
    if isinstance(told, types.JSONRPCError):
        error = told.error
    reply = types.JSONRPCError(jsonrpc="2.0", id=message.id, error=error)
    with suppress(anyio.BrokenResourceError, anyio.ClosedResourceError):
        await given.send(SessionMessage(reply))
