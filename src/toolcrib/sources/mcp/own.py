"""This module is the protocol library's transport over HTTP, which takes an answer only with the id
of what was asked: the library takes any that comes the same way for the one that it waits for."""

from __future__ import annotations

from collections.abc import AsyncGenerator, Mapping
from contextlib import asynccontextmanager, suppress
from typing import Any, cast

import anyio
import httpx2
import mcp_types as types
from mcp.client.streamable_http import StreamableHTTPTransport
from mcp.shared._context_streams import create_context_streams
from mcp.shared.message import SessionMessage
from pydantic_core import from_json

from toolcrib.sources.mcp.faults import CODE, another_answered, sealed
from toolcrib.sources.mcp.limits import BODY_LIMIT
from toolcrib.sources.mcp.refusals import is_number_of

_ABSENT = object()


@asynccontextmanager
async def http_transport(url: str, client: httpx2.AsyncClient) -> AsyncGenerator[tuple[Any, Any]]:
    """The streams of a conversation over streamable HTTP."""
    transport = _Own(url, max_sse_event_size=BODY_LIMIT)
    given, received = create_context_streams[SessionMessage | Exception](0)
    sent, taken = create_context_streams[SessionMessage](0)
    async with given, received, sent, taken, anyio.create_task_group() as group:

        def listen() -> None:
            group.start_soon(transport.handle_get_stream, client, given)

        group.start_soon(transport.post_writer, client, taken, given, sent, listen, group)
        try:
            yield received, sent
        finally:
            if transport.session_id:
                await transport.terminate_session(client)
            group.cancel_scope.cancel()


class _Own(StreamableHTTPTransport):
    async def _handle_sse_event(
        self,
        sse: httpx2.ServerSentEvent,
        read_stream_writer: Any,
        original_request_id: types.RequestId | None = None,
        resumption_callback: Any = None,
    ) -> bool:
        """What answers another request is passed over."""
        if original_request_id is not None and sse.event == "message" and sse.data:
            number = _answered(sse.data)
            if number is not _ABSENT and not is_number_of(original_request_id, number):
                return False
        return await super()._handle_sse_event(
            sse, read_stream_writer, original_request_id, resumption_callback
        )

    async def _handle_json_response(
        self, response: httpx2.Response, read_stream_writer: Any, *, request_id: types.RequestId
    ) -> None:
        """A body is all that comes, so one that answers another request fails this one."""
        number = _answered(await response.aread())
        if number is _ABSENT or is_number_of(request_id, number):
            await super()._handle_json_response(response, read_stream_writer, request_id=request_id)
            return
        error = _error_of_any(await response.aread())
        told = types.JSONRPCError(jsonrpc="2.0", id=request_id, error=error)
        await read_stream_writer.send(SessionMessage(told))


def _error_of_any(body: bytes) -> types.ErrorData:
    """The server's, where it could not read the id; ours for the answer to another request."""
    with suppress(ValueError):
        message = types.jsonrpc_message_adapter.validate_json(body, by_name=False)
        if isinstance(message, types.JSONRPCError) and message.id is None:
            return message.error
    words, fault = another_answered()
    return types.ErrorData(code=CODE, message=words, data=sealed(fault))


def _answered(data: str | bytes) -> object:
    """The id of the request that a message answers; _ABSENT for one that answers none."""
    try:
        given: object = from_json(data)
    except ValueError:
        return _ABSENT
    if not isinstance(given, dict):
        return _ABSENT
    message = cast("Mapping[str, Any]", given)
    answers = "method" not in message and not message.keys().isdisjoint(("result", "error"))
    return message.get("id") if answers else _ABSENT
