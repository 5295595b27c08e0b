"""This module holds what a RecordingUpstream can answer: good replies, and every bad one."""

from __future__ import annotations

import asyncio
import json
import zlib
from collections.abc import Iterable
from http import HTTPStatus
from typing import Any

from toolcrib.testing.upstream import RecordedRequest, Reply, Wire

_BLOCK = b"\0" * 65_536


def answer(
    status: int = 200,
    *,
    body: bytes = b"ok",
    headers: Iterable[tuple[str, str]] = (("Content-Type", "text/plain"),),
) -> Reply:
    """One good answer with its right length; the connection stays open."""
    fields = [*headers, ("Content-Length", str(len(body)))]
    return raw(_head(status, fields) + body, close=False)


def json_answer(value: Any, status: int = 200) -> Reply:
    return answer(
        status, body=json.dumps(value).encode(), headers=[("Content-Type", "application/json")]
    )


def redirect(location: str, status: int = 302) -> Reply:
    return answer(status, body=b"", headers=[("Location", location)])


def echo() -> Reply:
    """The request's own body and content type come back."""

    async def reply(request: RecordedRequest, wire: Wire) -> None:
        kind = request.header("Content-Type") or "application/octet-stream"
        await answer(body=request.body, headers=[("Content-Type", kind)])(request, wire)

    return reply


def raw(data: bytes, *, close: bool = True) -> Reply:
    """Exactly these bytes."""

    async def reply(_: RecordedRequest, wire: Wire) -> None:
        await wire.send(data)
        if close:
            wire.close()

    return reply


def in_turn(*replies: Reply) -> Reply:
    """The first reply for the first request, and so on; the last one stays."""
    left = list(replies)

    async def reply(request: RecordedRequest, wire: Wire) -> None:
        now = left.pop(0) if len(left) > 1 else left[0]
        await now(request, wire)

    return reply


def drop() -> Reply:
    """The connection ends without an answer."""

    async def reply(_: RecordedRequest, wire: Wire) -> None:
        wire.close()

    return reply


def hang() -> Reply:
    """No answer, ever; ends with the connection or the upstream."""

    async def reply(_: RecordedRequest, wire: Wire) -> None:
        await wire.reader.read()

    return reply


def drip(body: bytes, *, every: float = 1.0) -> Reply:
    """A right answer, one byte of its body every so many seconds."""

    async def reply(_: RecordedRequest, wire: Wire) -> None:
        await wire.send(_head(200, [("Content-Length", str(len(body)))]))
        for byte in body:
            await wire.send(bytes((byte,)))
            await asyncio.sleep(every)

    return reply


def flood(size: int, *, declared: bool = True) -> Reply:
    """`size` zero bytes; without a declared length they end with the connection."""

    async def reply(_: RecordedRequest, wire: Wire) -> None:
        await wire.send(_head(200, [("Content-Length", str(size))] if declared else []))
        for start in range(0, size, len(_BLOCK)):
            await wire.send(_BLOCK[: size - start])
        wire.close()

    return reply


def gzip_bomb(size: int) -> Reply:
    """A small gzip body that unpacks to `size` zero bytes."""
    packer = zlib.compressobj(9, wbits=31)
    pieces = [packer.compress(_BLOCK[: size - start]) for start in range(0, size, len(_BLOCK))]
    return answer(
        body=b"".join([*pieces, packer.flush()]),
        headers=[("Content-Type", "text/plain"), ("Content-Encoding", "gzip")],
    )


def close_early(body: bytes, *, promised: int) -> Reply:
    """A length that is promised, fewer bytes, and the end of the connection."""
    return raw(_head(200, [("Content-Length", str(promised))]) + body)


def bad_chunks() -> Reply:
    """Chunked framing with a size that is no number."""
    return raw(
        _head(200, [("Transfer-Encoding", "chunked")]) + b"4\r\ngood\r\nxyz\r\nbad\r\n0\r\n\r\n"
    )


def _head(status: int, fields: Iterable[tuple[str, str]]) -> bytes:
    try:
        phrase = HTTPStatus(status).phrase
    except ValueError:
        phrase = "Unknown"
    lines = [f"HTTP/1.1 {status} {phrase}", *(f"{name}: {value}" for name, value in fields)]
    return "\r\n".join([*lines, "", ""]).encode()
