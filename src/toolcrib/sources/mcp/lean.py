"""This module makes calls over streamable HTTP past the protocol library: one POST, one answer.

The library makes tasks, queues and typed models for each request, which cost more than everything
else that a call passes through. What is sent here is what the library would send, and what it would
make of an answer is made of it here. Whatever else a server says is given to the library.
"""

from __future__ import annotations

import asyncio
import json
from collections.abc import Mapping
from typing import Any

import httpx2
from opentelemetry import trace

from toolcrib.errors import (
    SourceError,
    SourceProtocolError,
    SourceTimeout,
    SourceUnreachable,
    ToolcribError,
)
from toolcrib.net.deadlines import Deadline, Deadlines
from toolcrib.net.posting import Posted
from toolcrib.sources.mcp.answers import Answers, ForTheLibrary, Going
from toolcrib.sources.mcp.conversation import Ask
from toolcrib.sources.mcp.dispatching import Dispatcher
from toolcrib.sources.mcp.door import Door
from toolcrib.sources.mcp.failures import of_fault
from toolcrib.sources.mcp.faults import told
from toolcrib.sources.mcp.pacing import Pace


class LeanCalls:
    """Calls of one conversation."""

    def __init__(self, door: Door, dispatcher: Dispatcher, *, modern: bool) -> None:
        self._door = door
        self._dispatcher = dispatcher
        self._answers = Answers(door, dispatcher, modern=modern)
        self._modern = modern
        door.shaken |= modern  # the newer era shakes no hands
        self._is_traced = not isinstance(
            trace.get_tracer_provider(), trace.ProxyTracerProvider | trace.NoOpTracerProvider
        )
        self._deadlines = Deadlines()
        self._in_flight: set[Deadline] = set()
        self._ended = False

    def takes(self, ask: Ask) -> bool:
        """Not where a server of the older era may ask a person in the middle of the call, nor what
        is traced: the library makes the spans."""
        if self._is_traced or trace.get_current_span().get_span_context().is_valid:
            return False
        return self._door.is_open and (self._modern or ask.person is None)

    def end(self) -> None:
        """Break off what is in flight: the conversation is over."""
        self._ended = True
        for deadline in self._in_flight:
            if not deadline.passed:
                self._deadlines.discard(deadline)
                deadline.end()
        self._deadlines.close()

    async def call(
        self, ask: Ask, params: Mapping[str, Any], headers: Mapping[str, str], pace: Pace | None
    ) -> dict[str, Any]:
        """The result, as it came. Raises what `Conversation.call` raises, and ForTheLibrary."""
        if self._ended:
            raise SourceUnreachable("The connection is over.", sent=False)
        number = self._dispatcher.next_number()
        body = _written(number, params, watched=pace is not None)
        going = Going(number, ask, pace, headers)
        try:
            deadline = self._deadlines.within(ask.timeout)
            self._in_flight.add(deadline)
            try:
                with deadline:
                    return await self._answer(going, body)
            finally:
                self._in_flight.discard(deadline)
        except TimeoutError:
            pass  # what is raised below has no foreign error as its context
        except asyncio.CancelledError:
            await self._give_up(number, "caller cancelled")
            raise
        if self._ended:
            raise SourceUnreachable("The server ended the connection.", sent=True)
        await self._give_up(number, f"timed out after {ask.timeout}s")
        raise SourceTimeout("The server did not answer in time.", sent=True)

    async def _give_up(self, number: int, reason: str) -> None:
        """In the newer era the end of the connection says it."""
        if not self._modern:
            await self._dispatcher.give_up(number, reason)

    async def _answer(self, going: Going, body: bytes) -> dict[str, Any]:
        posted: Posted | None = None
        try:
            posted = await self._door.post(going.headers, body)
            return await self._answers.of(going, posted)
        except httpx2.TransportError as error:
            broken: SourceError = of_fault(*told(error))
        except ToolcribError as error:
            if posted is not None:
                raise
            broken = of_fault(*told(error))
        finally:
            if posted is not None:
                await posted.aclose()
        raise broken


def _written(number: int, params: Mapping[str, Any], *, watched: bool) -> bytes:
    if watched:
        meta: Mapping[str, Any] = params.get("_meta") or {}
        params = {**params, "_meta": {**meta, "progressToken": number}}
    message = {"jsonrpc": "2.0", "id": number, "method": "tools/call", "params": params}
    try:
        return json.dumps(
            message, ensure_ascii=False, separators=(",", ":"), allow_nan=False
        ).encode()
    except TypeError:
        unusual = True  # dates and the like, of which the library makes text
    except (ValueError, RecursionError):
        unusual = False
    if unusual:
        raise ForTheLibrary(lasting=False)
    raise SourceProtocolError("The arguments cannot be written as JSON.", sent=False)
