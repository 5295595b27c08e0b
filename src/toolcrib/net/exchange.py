"""This module speaks HTTP/1.1 over a connection of the pool: one whole request, one answer.

It is the short way for what nearly every call is, a request whose body is small and at hand and
that goes straight to its upstream. aiohttp's session sends the same bytes and reads the answer with
the same parser, but redirects, cookies, credentials, traces and files, none of which is used here,
cost it more than the exchange.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import aiohttp
from aiohttp.http_exceptions import HttpProcessingError
from multidict import CIMultiDictProxy

from toolcrib.net.connections import LONGEST_LINE
from toolcrib.net.outgoing import Outgoing
from toolcrib.net.urls import Destination

if TYPE_CHECKING:
    from aiohttp.connector import Connection

_BODILESS = frozenset({"GET", "HEAD", "OPTIONS"})
_AGAIN = frozenset({"GET", "HEAD", "OPTIONS", "PUT", "DELETE"})
"""Sent once more when a kept connection breaks; the pool refuses those that change something."""
_KNOWN = 1024
_MOST_HEADS = 100
"""How many heads an answer may have; all but the last say that it is coming."""


class Opener(NamedTuple):
    """What the pool knows a place by, and the lines that every request to it has.

    `usual` are those of headers that a request may bring itself.
    """

    request: aiohttp.ClientRequest
    host: str
    usual: tuple[tuple[str, str], ...]


class Answer:
    """An answer whose head is here; `content` brings the body, after which the connection is kept.

    Whoever does not read it to its end closes it.
    """

    __slots__ = ("_connection", "content", "headers", "status")

    def __init__(
        self,
        connection: Connection,
        status: int,
        headers: CIMultiDictProxy[str],
        content: aiohttp.StreamReader,
    ) -> None:
        self._connection = connection
        self.status = status
        self.headers = headers
        self.content = content
        content.on_eof(self._whole)

    def close(self) -> None:
        self._connection.close()

    def _whole(self) -> None:
        protocol = self._connection.protocol
        if protocol is not None and protocol.upgraded:
            self._connection.close()  # what comes now is no HTTP
        else:
            self._connection.release()


class Exchanges:
    """Requests over the connections of one session."""

    def __init__(self, session: aiohttp.ClientSession) -> None:
        self._session = session
        self._openers: dict[tuple[str, str], Opener] = {}

    async def send(self, request: Outgoing, place: Destination, path: str) -> Answer:
        """Raises what aiohttp's session raises for the same request."""
        opener = self._opener(place)
        data = _written(request, opener, path)
        method = request.method
        try:
            return await self._once(method, opener, data)
        except aiohttp.ClientConnectorError:
            raise
        except (aiohttp.ClientOSError, aiohttp.ServerDisconnectedError):
            if method not in _AGAIN:
                raise
        return await self._once(method, opener, data)

    async def _once(self, method: str, opener: Opener, data: bytes) -> Answer:
        connection = await self._connection(opener)
        try:
            protocol = connection.protocol
            if protocol is None or protocol.transport is None:
                raise aiohttp.ServerDisconnectedError
            protocol.set_response_params(
                skip_payload=method == "HEAD",
                read_until_eof=True,
                max_line_size=LONGEST_LINE,
                max_field_size=LONGEST_LINE,
            )
            protocol.transport.write(data)
            for _ in range(_MOST_HEADS):
                message, content = await protocol.read()
                if message.code >= 200 or message.code == 101:
                    break
            else:
                raise aiohttp.ClientPayloadError
            return Answer(connection, message.code, message.headers, content)
        except HttpProcessingError as error:
            connection.close()
            raise aiohttp.ClientResponseError(
                opener.request.request_info, (), status=error.code
            ) from None
        except BaseException:
            connection.close()
            raise

    async def _connection(self, opener: Opener) -> Connection:
        pool = self._session.connector
        if pool is None:
            raise aiohttp.ClientConnectionError("The session is closed.")
        try:
            return await pool.connect(opener.request, [], self._session.timeout)
        except TimeoutError as error:
            raise aiohttp.ConnectionTimeoutError from error

    def _opener(self, place: Destination) -> Opener:
        origin = place.scheme, place.authority
        opener = self._openers.get(origin)
        if opener is None:
            if len(self._openers) >= _KNOWN:
                self._openers.clear()
            request = aiohttp.ClientRequest("GET", place.url("/"), session=self._session)
            headers = request.headers
            opener = Opener(
                request=request,
                host=f"Host: {headers['Host']}",
                usual=tuple((n, f"{n}: {headers[n]}") for n in ("Accept", "Accept-Encoding")),
            )
            self._openers[origin] = opener
        return opener


def _written(request: Outgoing, opener: Opener, path: str) -> bytes:
    """The request as it goes out, in the order in which aiohttp writes its parts."""
    given, body = request.headers, request.body
    lines = [f"{request.method} {path} HTTP/1.1", opener.host]
    lines += [f"{name}: {value}" for name, value in given.items()]
    lines += [line for name, line in opener.usual if name not in given]
    if isinstance(body, bytes):
        lines.append(f"Content-Length: {len(body)}")
        if "Content-Type" not in given:
            lines.append("Content-Type: application/octet-stream")
    elif request.method not in _BODILESS:
        lines.append("Content-Length: 0")
    head = "\r\n".join(lines).encode() + b"\r\n\r\n"
    return head + body if isinstance(body, bytes) else head
