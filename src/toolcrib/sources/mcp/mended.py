"""This module mends what comes over HTTP before anybody reads it: bodies as a whole, streams of
events line by line. It bounds what a stream may cost, too: how much one event holds, how long
others wait while it is read, and how often it is asked for again."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, Callable, Iterator
from functools import partial
from typing import Final, cast

import httpx2

from toolcrib.net.streaming import EVENTS
from toolcrib.sources.mcp.limits import BODY_LIMIT, MOST_VALUES
from toolcrib.sources.mcp.mending import is_suspect, mended
from toolcrib.sources.mcp.resting import Rests, bounded
from toolcrib.sources.mcp.weighing import TooMuch, aside, number_of, refusal_of, values_in

_SLICE: Final = 16 * 1024
"""Bytes of a stream that are read at a time."""
_DATA: Final = b"data:"
_ID: Final = b"id:"


class Mending(httpx2.AsyncBaseTransport):
    """Another transport, with every answer to a POST mended before anybody reads it."""

    def __init__(self, inner: httpx2.AsyncBaseTransport) -> None:
        self._inner = inner
        self._rests = Rests()

    async def handle_async_request(self, request: httpx2.Request) -> httpx2.Response:
        before = request.headers.get("Last-Event-ID", "").encode()
        if request.method == "GET" and before:
            await asyncio.sleep(self._rests.before(before))
        response = await self._inner.handle_async_request(request)
        if response.headers.get("Content-Type", "").lower().startswith(EVENTS):
            inner = cast("httpx2.AsyncByteStream", response.stream)
            number = await number_of(request)
            response.stream = Lines(inner, number, partial(self._rests.over, before))
        elif response.is_stream_consumed and await aside(is_suspect, response.content):
            headers = [one for one in response.headers.raw if one[0].lower() != b"content-length"]
            body = await aside(mended, response.content)
            return httpx2.Response(response.status_code, headers=headers, content=body)
        return response

    async def aclose(self) -> None:
        await self._inner.aclose()


class Lines(httpx2.AsyncByteStream):
    """A stream of events, mended, in answer to the request with this number. `over` hears of the
    last event's id and whether there was data, when the stream ends."""

    def __init__(
        self, inner: httpx2.AsyncByteStream, number: object, over: Callable[..., None]
    ) -> None:
        self._inner = inner
        self._number = number
        self._over = over
        self._held = 0
        self._told = False
        self._last_id = b""

    async def __aiter__(self) -> AsyncGenerator[bytes]:
        rest: list[bytes] = []
        size = 0
        async for piece in self._inner:
            for part in slices(piece):
                whole, line_end, last = part.rpartition(b"\n")
                if line_end:
                    lines = b"".join([*rest, whole]).split(b"\n")
                    yield b"".join([await self._line(one) + b"\n" for one in lines])
                    rest, size = [], 0
                rest.append(last)
                size += len(last)
                if size > BODY_LIMIT:  # whoever reads it says so
                    yield b"".join(rest)
                    rest, size = [], 0
                await asyncio.sleep(0)  # others get their turn
        yield await self._line(b"".join(rest))
        self._over(self._last_id, told=self._told)

    async def aclose(self) -> None:
        await self._inner.aclose()

    async def _line(self, line: bytes) -> bytes:
        if line.startswith(_DATA):
            self._told = self._told or bool(line.removeprefix(_DATA).strip())
            return await self._data(line)
        if line.startswith(_ID):
            self._last_id = line.removeprefix(_ID).strip()
        elif not line.strip():
            self._held = 0
        return bounded(line)

    async def _data(self, line: bytes) -> bytes:
        """In the place of the line with which an event holds too much is an error; its other lines
        would make no JSON of it, so it is reported as such."""
        self._held += await aside(values_in, line)
        if self._held > MOST_VALUES:
            error = TooMuch(f"The server's message holds more than {MOST_VALUES} values.")
            return _DATA + refusal_of(error, self._number)
        if not await aside(is_suspect, line):
            return bounded(line)
        return _DATA + await aside(mended, line.removeprefix(_DATA))


def slices(piece: bytes) -> Iterator[bytes]:
    """The piece in parts that are read at a time."""
    for at in range(0, len(piece), _SLICE):
        yield piece[at : at + _SLICE]
