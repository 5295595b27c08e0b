"""This module makes httpx2 clients whose every connection the guard judges and pins.

They are for protocols whose library reads the answer's stream itself and wants such a client. A
client serves one conversation: its connections, cookies and headers are nobody else's. What the
operator's rules refuse is raised as EgressBlocked; everything else is httpx2's own errors.
"""

from __future__ import annotations

import ssl
from collections.abc import (
    AsyncGenerator,
    AsyncIterator,
    Callable,
    Generator,
    Iterable,
    Mapping,
    Sequence,
)
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Any, cast

import httpcore2
import httpx2

from toolcrib.errors import EgressBlocked
from toolcrib.net.connections import trusted_tls
from toolcrib.net.guard import Guard
from toolcrib.net.outgoing import AGENT
from toolcrib.net.proxy import Proxy
from toolcrib.net.urls import Destination

BODY_LIMIT = 16 * 1024 * 1024
"""How many decoded bytes one answer may have."""
STREAM_LIMIT = 256 * 1024 * 1024
"""How many decoded bytes an event stream that answers a POST may have, all events together."""
EVENTS = "text/event-stream"
_CONNECTIONS = 64

_going: ContextVar[Destination] = ContextVar("toolcrib_streaming_place")


class BodyTooLarge(httpx2.ReadError):
    """The answer is larger than is read."""


class StreamingClients:
    """Makes clients that share a guard, a trust store and the operator's proxy.

    `read_timeout` is for how many seconds an answer may pause, except that a GET's may for ever.
    """

    def __init__(
        self,
        guard: Guard,
        *,
        proxy: str = "",
        tls: ssl.SSLContext | None = None,
        connect_timeout: float = 10.0,
        read_timeout: float = 330.0,
    ) -> None:
        self._guard = guard
        self._proxy = Proxy(proxy) if proxy else None
        self._tls = tls
        self._timeout = httpx2.Timeout(read_timeout, connect=connect_timeout)

    def client(
        self,
        headers: Mapping[str, str] | None = None,
        *,
        wrap: Callable[[GuardedTransport], httpx2.AsyncBaseTransport] | None = None,
    ) -> httpx2.AsyncClient:
        """A client for one conversation; whoever gets it closes it. Redirects are not followed."""
        if self._tls is None:
            self._tls = trusted_tls()
        transport = GuardedTransport(
            self._guard, self._pool(), tls=self._tls, direct=self._proxy is None
        )
        return httpx2.AsyncClient(
            headers={"User-Agent": AGENT, "Accept-Encoding": "identity", **(headers or {})},
            transport=wrap(transport) if wrap else transport,
            timeout=self._timeout,
            follow_redirects=False,
            trust_env=False,
        )

    def _pool(self) -> httpcore2.AsyncConnectionPool:
        if self._proxy is None:
            return httpcore2.AsyncConnectionPool(
                ssl_context=self._tls,
                max_connections=_CONNECTIONS,
                keepalive_expiry=60.0,
                network_backend=_PinnedBackend(self._guard),
            )
        url = self._proxy.url
        secret = (url.user or "", url.password or "") if url.user else None
        return httpcore2.AsyncHTTPProxy(
            f"http://{self._proxy.host}:{self._proxy.port}",
            proxy_auth=secret,
            ssl_context=self._tls,
            max_connections=_CONNECTIONS,
            keepalive_expiry=60.0,
        )


class GuardedTransport(httpx2.AsyncBaseTransport):
    """Sends to what was judged: the place is read once, and its host is what is connected to."""

    def __init__(
        self,
        guard: Guard,
        pool: httpcore2.AsyncConnectionPool,
        *,
        tls: ssl.SSLContext,
        direct: bool,
    ) -> None:
        self.guard = guard
        self.tls = tls
        self.direct = direct
        """No proxy stands between."""
        self._pool = pool

    async def handle_async_request(self, request: httpx2.Request) -> httpx2.Response:
        timeout = dict(request.extensions.get("timeout", {}))
        if request.method == "GET":
            timeout["read"] = None
        answer = await self.exchange(
            request.method,
            str(request.url),
            request.url.raw_path,
            request.headers.raw,
            request.stream,
            {**request.extensions, "timeout": timeout},
        )
        return decoded(answer, request.method)

    async def exchange(
        self,
        method: str,
        url: str,
        target: bytes,
        headers: Sequence[tuple[bytes, bytes]],
        content: Any,
        extensions: Mapping[str, Any],
    ) -> httpcore2.Response:
        """The answer as it comes, neither decoded nor capped. `target` is the URL's path and query.

        Raises EgressBlocked and httpx2's errors.
        """
        place, _ = self.guard.policy.check_url(url)
        # Judged for every request: a kept connection, or the proxy, would ask nobody.
        await self.guard.addresses(place)
        _going.set(place)
        host = f"[{place.host}]" if ":" in place.host else place.host
        asked = httpcore2.Request(
            method=method,
            url=httpcore2.URL(scheme=place.scheme, host=host, port=place.port, target=target),
            headers=headers,
            content=content,
            extensions=dict(extensions),
        )
        with translated():
            return await self._pool.handle_async_request(asked)

    async def aclose(self) -> None:
        await self._pool.aclose()


class _PinnedBackend(httpcore2.AsyncNetworkBackend):
    """Connects to judged addresses only, never to a name."""

    def __init__(self, guard: Guard) -> None:
        self._guard = guard
        self._inner = cast("httpcore2.AsyncNetworkBackend", httpcore2.AnyIOBackend())

    async def connect_tcp(
        self,
        host: str,
        port: int,
        timeout: float | None = None,  # noqa: ASYNC109 - the library's signature
        local_address: str | None = None,
        socket_options: Iterable[httpcore2.SOCKET_OPTION] | None = None,
    ) -> httpcore2.AsyncNetworkStream:
        place = _going.get()
        if (host.strip("[]"), port) != (place.host, place.port):
            raise EgressBlocked(
                f"A connection to {place.host!r} went for an address that was not judged.",
                sent=False,
            )
        failure: Exception = httpcore2.ConnectError("no address")
        for address in await self._guard.addresses(place):
            try:
                return await self._inner.connect_tcp(
                    address, port, timeout, local_address, socket_options
                )
            except (httpcore2.ConnectError, httpcore2.ConnectTimeout) as error:
                failure = error
        raise failure

    async def connect_unix_socket(
        self,
        path: str,
        timeout: float | None = None,  # noqa: ASYNC109 - the library's signature
        socket_options: Iterable[httpcore2.SOCKET_OPTION] | None = None,
    ) -> httpcore2.AsyncNetworkStream:
        raise EgressBlocked("Connections to local sockets are not made.", sent=False)

    async def sleep(self, seconds: float) -> None:
        await self._inner.sleep(seconds)


class _RawStream(httpx2.AsyncByteStream):
    """A body as the pool reads it, with httpx2's errors."""

    def __init__(self, answer: httpcore2.Response) -> None:
        self._answer = answer

    async def __aiter__(self) -> AsyncIterator[bytes]:
        with translated():
            async for piece in self._answer.aiter_stream():
                yield piece

    async def aclose(self) -> None:
        await self._answer.aclose()


class _CappedStream(httpx2.AsyncByteStream):
    """A decoded body that ends with BodyTooLarge when there is too much of it."""

    def __init__(self, inner: httpx2.Response, limit: int | None) -> None:
        self._inner = inner
        self._limit = limit

    async def __aiter__(self) -> AsyncGenerator[bytes]:
        size = 0
        async for piece in self._inner.aiter_bytes():
            size += len(piece)
            if self._limit is not None and size > self._limit:
                raise BodyTooLarge(f"The answer is larger than {self._limit} bytes.")
            yield piece

    async def aclose(self) -> None:
        await self._inner.aclose()


def decoded(answer: httpcore2.Response, method: str) -> httpx2.Response:
    """The answer with its content encoding undone, so that what is counted is what it becomes."""
    inner = httpx2.Response(
        status_code=answer.status, headers=answer.headers, stream=_RawStream(answer)
    )
    limit: int | None = BODY_LIMIT
    if inner.headers.get("Content-Type", "").lower().startswith(EVENTS):
        limit = None if method == "GET" else STREAM_LIMIT
    gone = {"content-encoding", "content-length", "transfer-encoding"}
    headers = [(k, v) for k, v in inner.headers.multi_items() if k.lower() not in gone]
    return httpx2.Response(
        status_code=answer.status,
        headers=headers,
        stream=_CappedStream(inner, limit),
        extensions=cast("dict[str, Any]", answer.extensions),  # pyright: ignore[reportUnknownMemberType]
    )


@contextmanager
def translated() -> Generator[None]:
    """The pool's errors as httpx2's, which share their names."""
    try:
        yield
    except (httpcore2.TimeoutException, httpcore2.NetworkError, httpcore2.ProtocolError) as error:
        found = _same_name(type(error))
        text = str(error) or type(error).__name__
    except (httpcore2.ProxyError, httpcore2.UnsupportedProtocol) as error:
        found, text = httpx2.ConnectError, f"the egress proxy refused: {error}"
    else:
        return
    raise found(text)


def _same_name(kind: type[Any]) -> type[httpx2.TransportError]:
    for one in kind.__mro__:
        found = getattr(httpx2, one.__name__, None)
        if isinstance(found, type) and issubclass(found, httpx2.TransportError):
            return found
    return httpx2.TransportError
