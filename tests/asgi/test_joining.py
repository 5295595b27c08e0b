"""This module checks how the parts of an answer reach the client."""

from __future__ import annotations

import asyncio
import socket
import struct
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from typing import Any

from starlette.types import Receive, Scope, Send

from tests.support.listening import listening

DATA_SEGMENTS = struct.Struct("=152xI")
"""The place in Linux's `tcp_info` that counts segments with data which came in."""


@dataclass
class Answering:
    """An application that answers with these bodies; it goes on after the first when told to."""

    bodies: list[bytes]
    headers: list[tuple[bytes, bytes]] = field(default_factory=list[tuple[bytes, bytes]])
    go_on: asyncio.Event = field(default_factory=asyncio.Event)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            return
        if scope["path"] == "/asked-first":
            await receive()
        await send({"type": "http.response.start", "status": 200, "headers": self.headers})
        if len(self.bodies) > 1:
            await self.go_on.wait()
        for number, body in enumerate(self.bodies, 1):
            more = number < len(self.bodies)
            await send({"type": "http.response.body", "body": body, "more_body": more})


class Client:
    """One connection."""

    def __init__(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self.reader = reader
        self._writer = writer

    def ask(self, method: str = "GET", path: str = "/", more: str = "") -> None:
        self._writer.write(f"{method} {path} HTTP/1.1\r\nHost: here\r\n{more}\r\n".encode())

    async def head(self) -> bytes:
        async with asyncio.timeout(30):
            return await self.reader.readuntil(b"\r\n\r\n")

    async def body(self, size: int) -> bytes:
        async with asyncio.timeout(30):
            return await self.reader.readexactly(size)

    @property
    def segments(self) -> int:
        """How many times the server has sent something."""
        ours: Any = self._writer.get_extra_info("socket")
        told = ours.getsockopt(socket.IPPROTO_TCP, socket.TCP_INFO, DATA_SEGMENTS.size)
        return DATA_SEGMENTS.unpack(told)[0]


@asynccontextmanager
async def client_of(app: Answering) -> AsyncGenerator[Client]:
    async with listening(app) as url:
        reader, writer = await asyncio.open_connection("127.0.0.1", int(url.rpartition(":")[2]))
        try:
            yield Client(reader, writer)
        finally:
            writer.close()


def sized(body: bytes) -> list[tuple[bytes, bytes]]:
    return [(b"content-length", str(len(body)).encode())]


async def test_head_and_body_come_together() -> None:
    """Each answer of a connection is one segment."""
    async with client_of(Answering([b"short"], sized(b"short"))) as client:
        for number in (1, 2):
            client.ask()
            assert (await client.head()).startswith(b"HTTP/1.1 200 OK\r\n")
            assert await client.body(5) == b"short"
            assert client.segments == number


async def test_a_head_does_not_wait_for_a_later_body() -> None:
    """A stream begins before there is anything to tell."""
    app = Answering([b"first", b"second"], sized(b"firstsecond"))
    async with client_of(app) as client:
        client.ask()
        await client.head()
        app.go_on.set()
        assert await client.body(11) == b"firstsecond"


async def test_large_bodies_and_none_arrive_whole() -> None:
    """Whatever is joined, nothing is lost or doubled."""
    large = b"x" * 300_000
    async with client_of(Answering([large], sized(large))) as client:
        client.ask("HEAD")
        await client.head()
        client.ask()
        await client.head()
        assert await client.body(len(large)) == large
    async with client_of(Answering([b""], sized(b""))) as client:
        client.ask()
        await client.head()
        client.ask()
        await client.head()


async def test_the_last_answer_arrives_before_the_end() -> None:
    """A connection that closes with its answer has sent it."""
    headers = [*sized(b"short"), (b"connection", b"close")]
    async with client_of(Answering([b"short"], headers)) as client:
        client.ask()
        await client.head()
        async with asyncio.timeout(30):
            assert await client.reader.read() == b"short"


async def test_a_client_that_waits_is_told_to_go_on() -> None:
    """`Expect: 100-continue` is answered before the body comes."""
    app = Answering([b"short"], sized(b"short"))
    async with client_of(app) as client:
        client.ask("POST", "/asked-first", "Expect: 100-continue\r\nContent-Length: 2\r\n")
        assert (await client.head()).startswith(b"HTTP/1.1 100 ")
