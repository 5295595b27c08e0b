"""This module refuses messages that cost far more than their bytes, and reads large ones aside.

A reader of JSON makes an object of every value, and nothing else runs meanwhile: millions of them
in one message would hold up everybody. Counting them first costs next to nothing.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import Concatenate, Final, ParamSpec, TypeVar

import httpx2
import mcp_types as types
import orjson

from toolcrib.net.streaming import EVENTS
from toolcrib.sources.mcp.limits import MOST_VALUES

_LARGE: Final = 256 * 1024
"""Bytes from which on a message is read in a thread."""
_MARKS: Final = (b",", b"[", b"{")
_P = ParamSpec("_P")
_T = TypeVar("_T")


class TooMuch(ValueError):
    """A message holds more than is read."""


def weighed(data: bytes) -> bytes:
    """The same data. Raises TooMuch where it holds too many values."""
    if values_in(data) > MOST_VALUES:
        raise TooMuch(f"The server's message holds more than {MOST_VALUES} values.")
    return data


def values_in(data: bytes) -> int:
    """About how many values some JSON holds: a few more while they are few, as commas and brackets
    in its texts count then."""
    many = _marks(data)
    if many <= MOST_VALUES:
        return many
    bare = data.replace(b"\\\\", b"").replace(b'\\"', b"")
    members = bare.count(b'"') // 4  # a name and a text have four
    return members if members > MOST_VALUES else _marks(b"".join(bare.split(b'"')[::2]))


def refusal_of(error: TooMuch, number: object) -> bytes:
    """The error that takes the place of an answer to the request with this number."""
    told = {"code": types.INTERNAL_ERROR, "message": str(error)}
    return orjson.dumps({"jsonrpc": "2.0", "id": number, "error": told})


async def number_of(request: httpx2.Request) -> object:
    """The id of what was asked; None where nothing was."""
    asked = await request.aread()
    return orjson.loads(asked).get("id") if asked else None


async def aside(
    work: Callable[Concatenate[bytes, _P], _T], data: bytes, *args: _P.args, **named: _P.kwargs
) -> _T:
    """`work(data, ...)`, in a thread where the data is large."""
    if len(data) < _LARGE:
        return work(data, *args, **named)
    return await asyncio.to_thread(work, data, *args, **named)


class Weighing(httpx2.AsyncBaseTransport):
    """Another transport; a body in answer to a POST that holds too much is answered by an error."""

    def __init__(self, inner: httpx2.AsyncBaseTransport) -> None:
        self._inner = inner

    async def handle_async_request(self, request: httpx2.Request) -> httpx2.Response:
        response = await self._inner.handle_async_request(request)
        kind = response.headers.get("Content-Type", "").lower()
        if request.method != "POST" or kind.startswith(EVENTS):
            return response
        try:
            await aside(weighed, await response.aread())
        except TooMuch as error:
            headers = {"Content-Type": "application/json"}
            body = refusal_of(error, await number_of(request))
            return httpx2.Response(502, headers=headers, content=body)
        finally:
            await response.aclose()
        return response

    async def aclose(self) -> None:
        await self._inner.aclose()


def _marks(data: bytes) -> int:
    return sum(map(data.count, _MARKS))
