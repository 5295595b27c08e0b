"""This module is a real HTTP/1.1 upstream on loopback that records requests byte for byte.

It can also misbehave: hang, drip, flood, bomb, close early, lie about lengths. Give a path one of
the replies of `toolcrib.testing.replies`:

    async with RecordingUpstream() as upstream:
        upstream.reply("/weather", answer(body=b"sunny"))
        ...
        assert upstream.requests[0].raw == b"GET /weather?city=Oslo HTTP/1.1\\r\\n..."
"""

from __future__ import annotations

import asyncio
import ssl
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from types import TracebackType
from typing import Self

_LIMIT = 1024 * 1024


@dataclass(frozen=True, kw_only=True, slots=True)
class RecordedRequest:
    """One request as it came in. `raw` is every byte; `body` is without chunked framing.

    `connection` counts connections from 1: two requests with one number shared theirs.
    """

    raw: bytes
    method: str
    target: str
    headers: tuple[tuple[str, str], ...]
    body: bytes
    connection: int

    @property
    def path(self) -> str:
        return self.target.partition("?")[0]

    @property
    def query(self) -> str:
        return self.target.partition("?")[2]

    def header(self, name: str) -> str | None:
        """The first value of a header, whatever its case."""
        wanted = name.lower()
        return next((value for key, value in self.headers if key.lower() == wanted), None)


class Wire:
    """The connection, as a reply sees it: write bytes, or end it."""

    def __init__(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self.reader = reader
        self.writer = writer
        self.open = True

    async def send(self, data: bytes) -> None:
        """Raises ConnectionError when the client has gone."""
        self.writer.write(data)
        await self.writer.drain()

    def close(self) -> None:
        """End the connection after what was written."""
        self.open = False


Reply = Callable[[RecordedRequest, Wire], Awaitable[None]]


async def _fine(_: RecordedRequest, wire: Wire) -> None:
    await wire.send(b"HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\nContent-Length: 2\r\n\r\nok")


class RecordingUpstream:
    """`async with` starts and ends it. Paths without a reply answer 200 `ok`, or `otherwise`.

    `tls` makes it an https upstream; it listens at `host`, at any free port unless told one.
    """

    def __init__(
        self,
        *,
        tls: ssl.SSLContext | None = None,
        host: str = "127.0.0.1",
        port: int = 0,
        otherwise: Reply = _fine,
    ) -> None:
        self.requests: list[RecordedRequest] = []
        self.connections = 0
        self.port = port
        self._host = host
        self._tls = tls
        self._replies: dict[str, Reply] = {}
        self._otherwise = otherwise
        self._server: asyncio.Server | None = None
        self._serving: set[asyncio.Task[None]] = set()
        self._news = asyncio.Condition()

    @property
    def place(self) -> str:
        """`host:port`, as the operator's allow-list takes it."""
        return f"[{self._host}]:{self.port}" if ":" in self._host else f"{self._host}:{self.port}"

    def url(self, path: str = "/") -> str:
        return f"{'https' if self._tls else 'http'}://{self.place}{path}"

    def reply(self, path: str, reply: Reply) -> None:
        """What requests for this path (without its query) get from now on."""
        self._replies[path] = reply

    async def received(self, count: int = 1) -> RecordedRequest:
        """Wait for the request of that number (from 1)."""
        async with self._news:
            await self._news.wait_for(lambda: len(self.requests) >= count)
        return self.requests[count - 1]

    async def __aenter__(self) -> Self:
        self._server = await asyncio.start_server(
            self._serve, self._host, self.port, ssl=self._tls, limit=_LIMIT
        )
        self.port = int(self._server.sockets[0].getsockname()[1])
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        if self._server is not None:
            self._server.close()
        for task in self._serving:
            task.cancel()
        await asyncio.gather(*self._serving, return_exceptions=True)

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self.connections += 1
        task = asyncio.current_task()
        if task is not None:
            self._serving.add(task)
            task.add_done_callback(self._serving.discard)
        wire = Wire(reader, writer)
        try:
            await self._answer_all(wire, self.connections)
        except (ConnectionError, asyncio.IncompleteReadError):
            pass
        except asyncio.CancelledError:
            # The stream server logs a cancelled connection as an error; ending is no error here.
            pass
        finally:
            writer.close()

    async def _answer_all(self, wire: Wire, connection: int) -> None:
        while wire.open and (request := await _receive(wire.reader, connection)) is not None:
            self.requests.append(request)
            async with self._news:
                self._news.notify_all()
            await self._replies.get(request.path, self._otherwise)(request, wire)
            if (request.header("Connection") or "").lower() == "close":
                return


async def _receive(reader: asyncio.StreamReader, connection: int) -> RecordedRequest | None:
    """The next request; None when the client is done."""
    try:
        head = await reader.readuntil(b"\r\n\r\n")
    except asyncio.IncompleteReadError as end:
        if not end.partial:
            return None
        raise
    lines = head[:-4].decode("latin-1").split("\r\n")
    method, target, _ = lines[0].split(" ", 2)
    headers = tuple(
        (name, value.strip()) for name, _, value in (x.partition(":") for x in lines[1:])
    )
    named = {name.lower(): value for name, value in headers}
    if named.get("transfer-encoding", "").lower() == "chunked":
        framed, body = await _chunks(reader)
    else:
        framed = body = await reader.readexactly(int(named.get("content-length", "0")))
    return RecordedRequest(
        raw=head + framed,
        method=method,
        target=target,
        headers=headers,
        body=body,
        connection=connection,
    )


async def _chunks(reader: asyncio.StreamReader) -> tuple[bytes, bytes]:
    """A chunked body: as it came, and without its framing."""
    framed, body = bytearray(), bytearray()
    while True:
        line = await reader.readuntil(b"\r\n")
        size = int(line.split(b";")[0], 16)
        piece = await reader.readexactly(size + 2)
        framed += line + piece
        body += piece[:-2]
        if size == 0:
            return bytes(framed), bytes(body)
