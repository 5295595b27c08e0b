"""This module speaks MCP through a process's pipes: one message a line.

Lines that are no messages are passed over: servers print to stdout what they should not.
"""

from __future__ import annotations

from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager

import anyio
import mcp_types as types
from anyio.streams.memory import MemoryObjectReceiveStream, MemoryObjectSendStream
from mcp.shared.message import SessionMessage

from toolcrib.errors import SourceUnreachable
from toolcrib.sources.mcp.flood import Flood
from toolcrib.sources.mcp.mending import messages_of
from toolcrib.sources.mcp.process import ServerProcess
from toolcrib.sources.mcp.servers import StdioServer
from toolcrib.sources.mcp.weighing import TooMuch, aside

_Out = MemoryObjectSendStream[SessionMessage | Exception]
_In = MemoryObjectReceiveStream[SessionMessage]
_Messages = MemoryObjectReceiveStream[SessionMessage | Exception]
_Sink = MemoryObjectSendStream[SessionMessage]


@asynccontextmanager
async def stdio_transport(server: StdioServer) -> AsyncGenerator[tuple[_Messages, _Sink]]:
    """Start the server, give its streams, and end its whole group on every way out.

    Raises SourceUnreachable for a command that cannot be started. When the server ends by itself
    the stream ends; leaving then raises SourceUnreachable that says how it ended.
    """
    process = await ServerProcess.start(server.command, server.args, server.env, walls=server.walls)
    gone = False
    try:
        async with _streams(process) as streams:
            yield streams
    except Exception:
        gone = process.is_gone
        if not gone:
            raise
    else:
        gone = process.is_gone
    finally:
        with anyio.CancelScope(shield=True):
            await process.end()
    if gone:
        raise SourceUnreachable(f"The server {process.how_it_ended()}.", sent=None)


@asynccontextmanager
async def _streams(process: ServerProcess) -> AsyncGenerator[tuple[_Messages, _Sink]]:
    given, received = anyio.create_memory_object_stream[SessionMessage | Exception](0)
    sent, taken = anyio.create_memory_object_stream[SessionMessage](0)
    async with given, received, sent, taken, anyio.create_task_group() as group:
        group.start_soon(_read, process, given)
        group.start_soon(_write, process, taken)
        try:
            yield received, sent
        finally:
            group.cancel_scope.cancel()


async def _read(process: ServerProcess, given: _Out) -> None:
    flood = Flood()
    async with given:
        while (line := await process.next_line()) is not None:
            try:
                messages = await aside(messages_of, line)
            except TooMuch:
                process.fault = "sends a message that holds more than is read"
                return
            unasked = 0 if messages else 1
            for message in messages:
                unasked += isinstance(message, types.JSONRPCNotification)
                await given.send(SessionMessage(message))
            if any(flood.too_much() for _ in range(unasked)):
                process.fault = "sends more messages than anybody asked for"
                return


async def _write(process: ServerProcess, taken: _In) -> None:
    async with taken:
        async for message in taken:
            text = message.message.model_dump_json(by_alias=True, exclude_unset=True)
            try:
                await process.write(text.encode() + b"\n")
            except SourceUnreachable:
                return
