"""This module makes aiohttp's connections obey the guard, and keeps them for the next request.

The resolver answers only judged addresses; the socket factory, which also sees addresses written in
URLs, refuses every other one. The connection pool refuses to send a request again that may change
something (aiohttp alone would resend PUT and DELETE when a kept connection breaks), and drops a
kept connection on which anything arrived that nobody asked for: it would answer the next request.
"""

from __future__ import annotations

import asyncio
import select
import socket
import ssl
from functools import partial
from ipaddress import ip_address
from typing import TYPE_CHECKING, Any, cast

import aiohttp
from aiohttp.abc import AbstractResolver, ResolveResult
from aiohttp.client_proto import ResponseHandler

from toolcrib.net import trip
from toolcrib.net.guard import Guard
from toolcrib.net.proxy import Proxy

if TYPE_CHECKING:
    from aiohttp.client_reqrep import ClientRequest
    from aiohttp.connector import Connection
    from aiohttp.tracing import Trace

LONGEST_LINE = 32_768
"""Of an answer's head, in bytes."""


_NEW_TRIES = 3


class ResendRefused(aiohttp.ClientError):
    """The connection broke after the request was written; sending it again could do it twice."""


class SpokeFirst(aiohttp.ClientError):
    """The upstream wrote to its connections, or ended them, before it was asked."""


class WatchedHandler(ResponseHandler):
    """A connection that knows when nobody waits for it to speak."""

    used = False
    """A request was written to it before."""
    asked = False
    """One was written whose answer is not all here."""
    _strayed = False

    def data_received(self, data: bytes) -> None:
        if data and not self.asked:
            self._strayed = True  # perhaps half a message, which the parser would not show
        super().data_received(data)
        if self._payload is not None and self._payload.is_eof():
            self.asked = False

    @property
    def should_close(self) -> bool:
        return self._strayed or super().should_close

    def is_clean(self) -> bool:
        """Whether a request may be written to it: nothing came, read or unread, since the last."""
        return not (self.should_close or (self.used and _has_unread(self.transport)))


class GuardedConnector(aiohttp.TCPConnector):
    """A pool that knows the trip of each request."""

    def __init__(self, **options: Any) -> None:
        super().__init__(**options)  # pyright: ignore[reportUnknownMemberType]
        self._factory = partial(WatchedHandler, loop=self._loop)

    async def connect(
        self,
        req: ClientRequest,
        traces: list[Trace],
        timeout: aiohttp.ClientTimeout,  # noqa: ASYNC109  # aiohttp's signature
    ) -> Connection:
        going = trip.current.get()
        if going.sent and not going.safe:
            raise ResendRefused
        new = 0
        while new < _NEW_TRIES:
            connection = await super().connect(req, traces, timeout)
            protocol = cast("WatchedHandler", connection.protocol)
            if protocol.is_clean():
                protocol.used = protocol.asked = True
                going.mark_sent()
                return connection
            new += not protocol.used
            connection.close()
        raise SpokeFirst


def _has_unread(transport: asyncio.BaseTransport | None) -> bool:
    """Whether the system holds bytes, or the end, that the event loop has not come to yet."""
    found = transport.get_extra_info("socket") if transport is not None else None
    if found is None or found.fileno() < 0:
        return True
    waiting = select.poll()
    waiting.register(found.fileno(), select.POLLIN)
    return bool(waiting.poll(0))


class GuardedResolver(AbstractResolver):
    """Answers the judged addresses of the present trip, and pins the trip to them."""

    def __init__(self, guard: Guard, proxy: Proxy | None) -> None:
        self._guard = guard
        self._proxy = proxy

    async def resolve(
        self, host: str, port: int = 0, family: socket.AddressFamily = socket.AF_UNSPEC
    ) -> list[ResolveResult]:
        going = trip.current.get()
        if self._proxy is None:
            addresses = await self._guard.addresses(going.place)
        else:
            addresses = await self._proxy.addresses(self._guard.resolver)
        going.pins = frozenset((address, port) for address in addresses)
        return [_result(host, address, port) for address in addresses]

    async def close(self) -> None:
        """The resolver behind belongs to whoever made it."""


def open_session(
    guard: Guard,
    *,
    proxy: Proxy | None,
    tls: ssl.SSLContext,
    per_upstream: int,
    connect_timeout: float,
) -> aiohttp.ClientSession:
    """A session that keeps connections and nothing else: no cookies, no environment, no deadline.

    The deadline is the client's: one for the whole exchange.
    """
    connector = GuardedConnector(
        resolver=GuardedResolver(guard, proxy),
        socket_factory=trip.open_socket,
        use_dns_cache=False,
        ssl=tls,
        limit=0,
        limit_per_host=per_upstream,
    )
    return aiohttp.ClientSession(
        connector=connector,
        cookie_jar=aiohttp.DummyCookieJar(),
        trust_env=False,
        proxy=proxy.url if proxy else None,
        timeout=aiohttp.ClientTimeout(total=None, sock_connect=connect_timeout),
        max_line_size=LONGEST_LINE,
        max_field_size=LONGEST_LINE,
    )


def trusted_tls() -> ssl.SSLContext:
    """The system's trust store, or SSL_CERT_FILE's; takes about 16 ms, so make it once."""
    context = ssl.create_default_context()
    context.set_alpn_protocols(["http/1.1"])
    return context


def _result(host: str, address: str, port: int) -> ResolveResult:
    version = ip_address(address).version
    return ResolveResult(
        hostname=host,
        host=address,
        port=port,
        family=socket.AF_INET6 if version == 6 else socket.AF_INET,
        proto=socket.IPPROTO_TCP,
        flags=socket.AI_NUMERICHOST,
    )
