"""This module is the part of the client that speaks HTTP. It is loaded with the first request:
aiohttp takes longer to load than a server that sends nothing needs to start."""

from __future__ import annotations

import ssl
from collections.abc import Callable
from typing import TYPE_CHECKING

import aiohttp

from toolcrib.net import trip
from toolcrib.net.connections import open_session, trusted_tls
from toolcrib.net.exchange import Exchanges
from toolcrib.net.failures import FOREIGN, translate
from toolcrib.net.guard import Guard
from toolcrib.net.outgoing import Outgoing
from toolcrib.net.proxy import Proxy
from toolcrib.net.response import Response, read
from toolcrib.net.urls import Destination

if TYPE_CHECKING:
    from toolcrib.net.response import Raw


class Line:
    """Connections that obey a guard, and requests over them."""

    def __init__(
        self,
        guard: Guard,
        *,
        proxy: Proxy | None,
        tls: ssl.SSLContext | None,
        per_upstream: int,
        connect_timeout: float,
    ) -> None:
        self._guard = guard
        self._proxy = proxy
        self._session = open_session(
            guard,
            proxy=proxy,
            tls=tls or trusted_tls(),
            per_upstream=per_upstream,
            connect_timeout=connect_timeout,
        )
        self._exchanges = Exchanges(self._session)

    async def send(
        self,
        request: Outgoing,
        place: Destination,
        path: str,
        limit: int,
        on_sent: Callable[[], None] | None = None,
    ) -> Response:
        """One request without following redirects. Raises SourceError, EgressBlocked, TimeoutError.

        What a streamed body raises comes out as it is.
        """
        going = trip.Trip(place, request.method, on_sent)
        trip.current.set(going)
        if self._proxy is not None:
            await self._guard.addresses(place)
            going.pins = self._proxy.pins()
        try:
            raw = await self._answer(request, place, path)
            return await read(raw, limit, url=place.origin + path)
        except FOREIGN as error:
            if isinstance(error, TimeoutError) and not isinstance(error, aiohttp.ClientError):
                raise
            failure = going.fault or translate(error, place=place.place, sent=going.sent)
        # Raised out here, so that the foreign error, which knows the URL and every header, is
        # not its context.
        raise failure

    async def close(self) -> None:
        await self._session.close()

    async def _answer(self, request: Outgoing, place: Destination, path: str) -> Raw:
        if self._proxy is None and request.small:
            return await self._exchanges.send(request, place, path)
        return await self._session.request(
            request.method,
            place.url(path),
            headers=request.headers,
            data=request.payload,
            allow_redirects=False,
            skip_auto_headers=request.unwanted,
        )
