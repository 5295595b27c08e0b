"""This module reads the answer of a call that was posted: a body, or a stream, which may break off
and go on elsewhere. What a server says beside it reaches the call, or the protocol library."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Iterator, Mapping
from contextlib import aclosing, suppress
from dataclasses import dataclass, field
from functools import partial
from typing import Any, Final

import httpx2
import mcp_types as types

from toolcrib.errors import SourceProtocolError
from toolcrib.net.posting import Posted
from toolcrib.net.streaming import EVENTS
from toolcrib.sources.mcp.conversation import Ask
from toolcrib.sources.mcp.dispatching import Dispatcher
from toolcrib.sources.mcp.door import Door
from toolcrib.sources.mcp.events import Event, Events, EventTooLarge
from toolcrib.sources.mcp.failures import of_fault
from toolcrib.sources.mcp.faults import another_answered, lost_session
from toolcrib.sources.mcp.flood import Flood
from toolcrib.sources.mcp.limits import BODY_LIMIT
from toolcrib.sources.mcp.mended import slices
from toolcrib.sources.mcp.pacing import Pace
from toolcrib.sources.mcp.reading import (
    Error,
    Line,
    Progress,
    Result,
    error_of,
    failure,
    message_of,
)
from toolcrib.sources.mcp.refusals import Asked, is_number_of, refusal
from toolcrib.sources.mcp.weighing import TooMuch, aside, weighed

_JSON: Final = "application/json"
_AGAIN: Final = 1.0
"""Seconds after which a stream that broke off is asked for again, where the server names none."""
_TRIES: Final = 2
_BARREN: Final = 20
"""How often in a row a stream may go on with nothing."""
_LINGER: Final = 0.02
"""Seconds that a server has to end a stream after its answer, so that the connection is kept."""
_REPEATS: Final = frozenset({307, 308})
_ELSEWHERE: Final = frozenset({301, 302, 303, *_REPEATS})


class ForTheLibrary(Exception):
    """The protocol library has to make this call; nothing was done for it yet. `lasting`: and all
    the others of the conversation."""

    def __init__(self, *, lasting: bool) -> None:
        super().__init__()
        self.lasting = lasting


@dataclass(slots=True)
class Going:
    """One call on its way."""

    number: int
    ask: Ask
    pace: Pace | None
    headers: Mapping[str, str]
    last_id: str = ""
    retry: int | None = None
    flood: Flood = field(default_factory=Flood)
    heard: int = 0
    """Messages, whatever they were."""

    def see(self, event: Event) -> None:
        self.last_id = event.last_id or self.last_id
        self.retry = self.retry if event.retry is None else event.retry


class Answers:
    """Reads the answers of one conversation."""

    def __init__(self, door: Door, dispatcher: Dispatcher, *, modern: bool) -> None:
        self._door = door
        self._modern = modern
        self._dispatcher = dispatcher
        self._left_open = 0

    async def of(self, going: Going, posted: Posted) -> dict[str, Any]:
        """The result. Raises what `Conversation.call` raises, httpx2's errors and ForTheLibrary."""
        if posted.status < 300 and posted.status != 202 and posted.kind.startswith(EVENTS):
            return await self._from_stream(going, posted)
        return await self._from_body(going, posted)

    async def _from_body(self, going: Going, posted: Posted) -> dict[str, Any]:
        status, kind = posted.status, posted.kind
        if kind.startswith(EVENTS):
            if status == 404 and self._asked(going).session:
                raise of_fault(*lost_session())
        else:
            body = await posted.whole()
            try:
                await aside(weighed, body)
            except TooMuch as error:
                raise failure(types.INTERNAL_ERROR, str(error)) from None
            refused = refusal(status, body, self._asked(going))
            if refused is not None:
                raise of_fault(*refused)
            if status < 300 and status != 202 and kind.startswith(_JSON):
                return await _only(going.number, body)
            error = error_of(body) if status >= 400 and kind.startswith(_JSON) else None
            if error is not None:
                raise failure(error.code, error.message, error.data)
        raise self._odd(posted)

    def _asked(self, going: Going) -> Asked:
        session = self._door.session is not None and not self._modern
        return Asked(number=going.number, session=session, modern=self._modern)

    def _odd(self, posted: Posted) -> Exception:
        """What is to be raised for an answer that is none."""
        status = posted.status
        if status in _REPEATS and "location" in posted.headers:
            return ForTheLibrary(lasting=True)  # to follow is its business
        if status in _ELSEWHERE and "location" in posted.headers:
            return failure(types.INVALID_REQUEST, f"The server redirects (HTTP {status}).")
        if status == 202:
            return failure(types.INVALID_REQUEST, "The server answered a call with 202 Accepted.")
        if status == 404:
            return failure(types.METHOD_NOT_FOUND, "Not Found")
        if status >= 400:
            return failure(types.INTERNAL_ERROR, "Server returned an error response")
        return failure(types.INVALID_REQUEST, f"Unexpected content type: {posted.kind}")

    async def _from_stream(self, going: Going, posted: Posted) -> dict[str, Any]:
        with suppress(httpx2.TransportError):
            result = await self._heard(going, posted.piece)
            if result is not None:
                await self._linger(posted)
                return result
        if not going.last_id:
            raise failure(types.CONNECTION_CLOSED, "SSE stream ended without a response")
        return await self._resumed(going)

    async def _resumed(self, going: Going) -> dict[str, Any]:
        """The answer, from a stream that goes on where the other broke off."""
        tries = barren = 0
        while tries < _TRIES and barren < _BARREN:
            heard = going.heard
            await asyncio.sleep(_AGAIN if going.retry is None else going.retry / 1000)
            tries += 1
            with suppress(httpx2.TransportError):
                async with self._door.resumed(going.headers, going.last_id) as response:
                    kind = response.headers.get("content-type", "").lower()
                    if response.status_code != 200 or not kind.startswith(EVENTS):
                        continue
                    async with aclosing(response.aiter_bytes()) as pieces:
                        result = await self._heard(going, partial(anext, pieces, b""))
                    tries, barren = 0, barren + 1 if going.heard == heard else 0
                if result is not None:
                    return result
        raise failure(types.CONNECTION_CLOSED, "SSE stream ended and could not be resumed")

    async def _heard(
        self, going: Going, read: Callable[[], Awaitable[bytes]]
    ) -> dict[str, Any] | None:
        """The result; None when the stream ends without. `read` gives b"" at its end."""
        events = Events(BODY_LIMIT)
        while True:
            piece = await read()
            try:
                for part in _parts(events, piece):
                    result = await self._heard_of(going, part)
                    if result is not None:
                        return result
                    await asyncio.sleep(0)  # others get their turn
            except EventTooLarge:
                break
            if not piece:
                return None
        raise failure(types.CONNECTION_CLOSED, "SSE stream failed")

    async def _heard_of(self, going: Going, events: Iterator[Event]) -> dict[str, Any] | None:
        for event in events:
            going.see(event)
            if event.data and event.kind == "message":
                result = await self._hear(going, event.data)
                if result is not None:
                    return result
            elif going.flood.too_much():
                raise _flooded()
        return None

    async def _hear(self, going: Going, data: bytes) -> dict[str, Any] | None:
        message = await aside(message_of, data)
        going.heard += 1
        if isinstance(message, Result) and is_number_of(going.number, message.number):
            return message.result
        if isinstance(message, Error) and is_number_of(going.number, message.number):
            raise message.means
        if going.flood.too_much():
            raise _flooded()
        if isinstance(message, Progress):
            if going.pace is not None and is_number_of(going.number, message.token):
                going.pace.note(message.done, message.total, message.message)
        elif isinstance(message, Line):
            if going.ask.log is not None:
                with suppress(Exception):
                    await going.ask.log(message.level, message.data, message.logger)
        elif not isinstance(message, Result | Error):
            await self._dispatcher.hand(message)
        return None

    async def _linger(self, posted: Posted) -> None:
        """Read a stream to its end after the answer, where the server ends it at once."""
        if self._left_open >= _TRIES:
            return
        try:
            async with asyncio.timeout(_LINGER):
                while await posted.piece():
                    pass
            self._left_open = 0
        except (TimeoutError, httpx2.TransportError):
            self._left_open += 1


def _parts(events: Events, piece: bytes) -> Iterator[Iterator[Event]]:
    """What each part of a piece of a stream brings, or its end, which is b""."""
    if not piece:
        yield events.end()
    for part in slices(piece):
        yield events.feed(part)


def _flooded() -> Exception:
    return SourceProtocolError("The server sends more messages than anybody asked for.", sent=True)


async def _only(number: int, body: bytes) -> dict[str, Any]:
    message = await aside(message_of, body)
    if isinstance(message, Result) and is_number_of(number, message.number):
        return message.result
    if isinstance(message, Error) and (
        message.number is None or is_number_of(number, message.number)
    ):
        raise message.means
    raise of_fault(*another_answered())
