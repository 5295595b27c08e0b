"""This module makes aiohttp's connections obey the guard, and keeps them for the next request.

Three public hooks hold it: the resolver answers only judged addresses; the socket factory, which
also sees addresses written in URLs, refuses every other one; and the connection pool refuses to
send a request again that may change something (aiohttp alone would resend PUT and DELETE when a
kept connection breaks).
"""

from __future__ import annotations

import socket
import ssl
from ipaddress import ip_address
from typing import TYPE_CHECKING

import aiohttp
from aiohttp.abc import AbstractResolver, ResolveResult

from toolcrib.net import trip
from toolcrib.net.guard import Guard
from toolcrib.net.proxy import Proxy

if TYPE_CHECKING:
    from aiohttp.client_reqrep import ClientRequest
    from aiohttp.connector import Connection
    from aiohttp.tracing import Trace

LONGEST_LINE = 32_768
"""Of an answer's head, in bytes."""
_CLEAN_TRIES = 3


class ResendRefused(aiohttp.ClientError):
    """The connection broke after the request was written; sending it again could do it twice."""


class SpokeFirst(aiohttp.ClientError):
    """The upstream wrote to its connections, or ended them, before it was asked."""


class GuardedConnector(aiohttp.TCPConnector):
    """A pool that knows the trip of each request."""

    async def connect(
        self,
        req: ClientRequest,
        traces: list[Trace],
        timeout: aiohttp.ClientTimeout,  # noqa: ASYNC109  # aiohttp's signature
    ) -> Connection:
        going = trip.current.get()
        if going.sent and not going.safe:
            raise ResendRefused
        for _ in range(_CLEAN_TRIES):
            connection = await super().connect(req, traces, timeout)
            protocol = connection.protocol
            # A kept connection on which bytes arrived that nobody asked for would answer this
            # request with another's answer.
            if protocol is None or not protocol.should_close:
                going.mark_sent()
                return connection
            connection.close()
        raise SpokeFirst


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
