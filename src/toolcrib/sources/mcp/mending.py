"""This module reads JSON that is nearly JSON: what a server cut through the middle of a character,
or wrote in another encoding. One such letter must not lose an answer, or a whole list."""

from __future__ import annotations

import json
import re
from collections.abc import AsyncGenerator, Sequence
from typing import Any, Final, cast

import httpx2
import mcp_types as types

from toolcrib.net.streaming import EVENTS
from toolcrib.sources.mcp.limits import BODY_LIMIT

_HALF: Final = re.compile("[\ud800-\udfff]")
_SIGN: Final = "\N{REPLACEMENT CHARACTER}"
_MAY_BE_HALF: Final = re.compile(rb"\\u[dD][89a-fA-F]")
_DATA: Final = b"data:"


def messages_of(data: bytes) -> Sequence[types.JSONRPCMessage]:
    """The messages of a line: one, those of a batch, or none where it is no message at all."""
    try:
        return (types.jsonrpc_message_adapter.validate_json(data, by_name=False),)
    except ValueError:
        pass
    value = _nearly(data)
    given = cast("list[Any]", value) if isinstance(value, list) else [value]
    found: list[types.JSONRPCMessage] = []
    for one in given:
        try:
            found.append(types.jsonrpc_message_adapter.validate_json(_written(one), by_name=False))
        except ValueError:
            continue
    return found


def mended(data: bytes) -> bytes:
    """The same JSON with a sign for each half character and for bytes that are no UTF-8. What is
    no JSON even so comes back as it is."""
    if not _is_suspect(data):
        return data
    value = _nearly(data)
    return data if value is None else _written(value)


class Mending(httpx2.AsyncBaseTransport):
    """Another transport, with every answer to a POST mended before anybody reads it."""

    def __init__(self, inner: httpx2.AsyncBaseTransport) -> None:
        self._inner = inner

    async def handle_async_request(self, request: httpx2.Request) -> httpx2.Response:
        response = await self._inner.handle_async_request(request)
        if response.headers.get("Content-Type", "").lower().startswith(EVENTS):
            response.stream = _Lines(cast("httpx2.AsyncByteStream", response.stream))
        elif response.is_stream_consumed and _is_suspect(response.content):
            headers = [one for one in response.headers.raw if one[0].lower() != b"content-length"]
            body = mended(response.content)
            return httpx2.Response(response.status_code, headers=headers, content=body)
        return response

    async def aclose(self) -> None:
        await self._inner.aclose()


class _Lines(httpx2.AsyncByteStream):
    """A stream of events whose data is mended, line by line."""

    def __init__(self, inner: httpx2.AsyncByteStream) -> None:
        self._inner = inner

    async def __aiter__(self) -> AsyncGenerator[bytes]:
        rest: list[bytes] = []
        size = 0
        async for piece in self._inner:
            whole, line_end, last = piece.rpartition(b"\n")
            if line_end:
                lines = b"".join([*rest, whole]).split(b"\n")
                yield b"".join(map(_mended_line, lines))
                rest, size = [], 0
            rest.append(last)
            size += len(last)
            if size > BODY_LIMIT:  # whoever reads it says so
                yield b"".join(rest)
                rest, size = [], 0
        yield b"".join(rest)

    async def aclose(self) -> None:
        await self._inner.aclose()


def _mended_line(line: bytes) -> bytes:
    if not line.startswith(_DATA) or not _is_suspect(line):
        return line + b"\n"
    return _DATA + mended(line.removeprefix(_DATA)) + b"\n"


def _nearly(data: bytes) -> Any:
    """The object or list in it, as far as it can be read; None for anything else."""
    text = data.decode("utf-8-sig", errors="replace").strip()
    if not text.startswith(("{", "[")):
        return None
    try:
        return json.loads(text, strict=False)
    except (ValueError, RecursionError):
        return None


def _written(value: Any) -> bytes:
    return _HALF.sub(_SIGN, json.dumps(value, ensure_ascii=False)).encode()


def _is_suspect(data: bytes) -> bool:
    """Whether there may be something to mend; quick where there is nothing."""
    if _MAY_BE_HALF.search(data):
        return True
    try:
        data.decode()
    except UnicodeDecodeError:
        return True
    return False
