"""This module posts to one place, and reads the answer piece by piece.

It is the short way for requests of which a conversation makes very many, beside httpx2's client for
everything else: the same judgement of every address and the same caps, over connections of the
conversation's own, which aiohttp's pool makes and parses at a sixth of the cost. Large bodies, an
operator's proxy and failures to connect go the long way, over the connections of the client.
"""

from __future__ import annotations

from collections.abc import AsyncGenerator, Awaitable, Callable, Mapping, Sequence
from typing import Any, Final, cast

import aiohttp
import httpx2
from multidict import CIMultiDict

from toolcrib.errors import EgressBlocked, InvalidRequest
from toolcrib.net import trip
from toolcrib.net.connections import open_session
from toolcrib.net.exchange import Answer, Exchanges
from toolcrib.net.failures import FOREIGN
from toolcrib.net.fields import can_be_sent
from toolcrib.net.outgoing import Outgoing, outgoing
from toolcrib.net.streaming import (
    BODY_LIMIT,
    EVENTS,
    STREAM_LIMIT,
    BodyTooLarge,
    GuardedTransport,
    decoded,
)

Pairs = Sequence[tuple[str, str]]
_CONNECTIONS: Final = 64
_OF_CONNECTION: Final = frozenset({"host", "connection", "content-length"})


class Template:
    """Headers that many requests share, checked once. Those of the connection are left out; a
    value that only the long way sends makes it the way of all."""

    def __init__(self, pairs: Pairs) -> None:
        self.pairs = pairs
        self.host = next((value for name, value in pairs if name.lower() == "host"), None)
        own = [pair for pair in pairs if pair[0].lower() not in _OF_CONNECTION]
        try:
            self.checked: CIMultiDict[str] | None = outgoing(
                "POST", own, None, length=None, credentials=True
            ).headers
        except InvalidRequest:
            self.checked = None
            return
        self.checked["Connection"] = "keep-alive"

    def filled(self, more: Mapping[str, str], body: bytes) -> Outgoing | None:
        """A request for the short way; None where it is not one for it."""
        if self.checked is None or not all(map(can_be_sent, more.values())):
            return None
        headers = self.checked.copy()
        headers.update(more)
        request = Outgoing(method="POST", headers=headers, body=body, credentials=True)
        return request if request.small else None

    def whole(self, more: Mapping[str, str], body: bytes) -> list[tuple[bytes, bytes]]:
        """All headers, for the long way."""
        names = {name.lower() for name in more}
        sent = [pair for pair in self.pairs if pair[0].lower() not in names]
        sent += [*more.items(), ("Content-Length", str(len(body)))]
        return [(name.encode(), value.encode()) for name, value in sent]


class Posted:
    """An answer whose body is still to come; whoever got it closes it.

    `headers` have lower-case names; of several with one name the last stands there, and all in
    `pairs`.
    """

    __slots__ = ("_close", "_left", "_read", "headers", "pairs", "status")

    def __init__(
        self,
        status: int,
        pairs: Pairs,
        read: Callable[[], Awaitable[bytes]],
        close: Callable[[], Awaitable[None]],
    ) -> None:
        self.status = status
        self.pairs = pairs
        self.headers = {name.lower(): value for name, value in pairs}
        self._left = STREAM_LIMIT if self.kind.startswith(EVENTS) else BODY_LIMIT
        self._read = read
        self._close = close

    @property
    def kind(self) -> str:
        """Its Content-Type, in lower case, with parameters."""
        return self.headers.get("content-type", "").lower()

    async def piece(self) -> bytes:
        """The next piece of the body, decoded; empty at its end. Raises httpx2's errors, and
        BodyTooLarge when there is too much of it."""
        piece = await self._read()
        self._left -= len(piece)
        if self._left < 0:
            raise BodyTooLarge("The answer is larger than is read.")
        return piece

    async def whole(self) -> bytes:
        """What is left of the body."""
        pieces: list[bytes] = []
        while piece := await self.piece():
            pieces.append(piece)
        return pieces[0] if len(pieces) == 1 else b"".join(pieces)

    async def aclose(self) -> None:
        """The connection is kept when the body was read to its end, and closed otherwise."""
        self._read = _nothing
        await self._close()


async def _nothing() -> bytes:
    return b""


class Posting:
    """`connect` is how many seconds a connection may take. `aclose` it."""

    def __init__(self, transport: GuardedTransport, url: httpx2.URL, connect: float) -> None:
        self._transport = transport
        self._guard = transport.guard
        self._url = str(url)
        self._target = url.raw_path
        self._host = url.netloc.decode("ascii")
        times = {"connect": connect, "read": None, "write": None, "pool": None}
        self._extensions: dict[str, Any] = {"timeout": times}
        self._session: aiohttp.ClientSession | None = None
        self._exchanges: Exchanges | None = None
        if transport.direct:
            self._session = open_session(
                self._guard,
                proxy=None,
                tls=transport.tls,
                per_upstream=_CONNECTIONS,
                connect_timeout=connect,
            )
            self._exchanges = Exchanges(self._session)

    async def post(self, usual: Template, more: Mapping[str, str], body: bytes) -> Posted:
        """`more` takes the place of what is usual. Raises EgressBlocked and httpx2's errors; the
        deadline is the caller's."""
        if self._exchanges is not None and usual.host in {None, self._host}:
            short = usual.filled(more, body)
            posted = short and await self._by_short(self._exchanges, short)
            if posted is not None:
                return posted
        return await self._by_long(usual.whole(more, body), body)

    async def aclose(self) -> None:
        if self._session is not None:
            await self._session.close()

    async def _by_short(self, exchanges: Exchanges, request: Outgoing) -> Posted | None:
        """None when it could not be sent: the long way finds the words for what is wrong."""
        place, _ = self._guard.policy.check_url(self._url)
        if place.address is None:  # an address in the URL was judged with it
            await self._guard.addresses(place)
        going = trip.Trip(place, "POST")
        trip.current.set(going)
        try:
            answer = await exchanges.send(request, place, self._target.decode("ascii"))
        except EgressBlocked:
            raise
        except aiohttp.ConnectionTimeoutError:
            failure: Exception = httpx2.ConnectTimeout("it took too long to connect")
        except FOREIGN as error:
            if not going.sent:
                return None
            failure = _broken(error)
        else:
            return _posted(answer)
        raise failure

    async def _by_long(self, headers: Sequence[tuple[bytes, bytes]], body: bytes) -> Posted:
        response = decoded(
            await self._transport.exchange(
                "POST", self._url, self._target, headers, body, self._extensions
            ),
            "POST",
        )
        stream = cast("httpx2.AsyncByteStream", response.stream)
        pieces = cast("AsyncGenerator[bytes]", aiter(stream))

        async def read() -> bytes:
            return await anext(pieces, b"")

        async def close() -> None:
            await pieces.aclose()
            await stream.aclose()

        return Posted(response.status_code, response.headers.multi_items(), read, close)


def _posted(answer: Answer) -> Posted:
    content = answer.content

    async def read() -> bytes:
        try:
            return await content.readany()
        except FOREIGN as error:
            failure = _broken(error)
        raise failure

    async def close() -> None:
        if not content.is_eof():
            answer.close()

    return Posted(answer.status, list(answer.headers.items()), read, close)


def _broken(error: BaseException) -> httpx2.TransportError:
    """httpx2's error for what ended an exchange in its course. Texts could hold addresses."""
    if isinstance(error, aiohttp.ServerDisconnectedError):
        return httpx2.RemoteProtocolError("the server closed it without an answer")
    if isinstance(error, aiohttp.ClientPayloadError | aiohttp.ClientResponseError):
        return httpx2.RemoteProtocolError("the answer is not valid HTTP, or ends early")
    return httpx2.ReadError("it was lost")
