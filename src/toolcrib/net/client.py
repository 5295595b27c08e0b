"""This module sends a request to one upstream through the guard and brings back a capped answer.

One client serves the whole process: connections are kept per upstream, and neither cookies nor the
environment's proxies play a part. Every exchange has one deadline, from the first lookup to the
last byte.
"""

from __future__ import annotations

import asyncio
import ssl
from collections.abc import Callable
from importlib import import_module
from types import TracebackType
from typing import TYPE_CHECKING, Self

from toolcrib.errors import EgressBlocked, SourceError, SourceProtocolError, SourceTimeout
from toolcrib.net import redirects, trip
from toolcrib.net.allow import SETTING
from toolcrib.net.deadlines import Deadlines
from toolcrib.net.guard import EgressPolicy, Guard, Verdict
from toolcrib.net.outgoing import Body, Headers, Outgoing, outgoing
from toolcrib.net.proxy import Proxy
from toolcrib.net.resolver import Resolver, ThreadedResolver
from toolcrib.net.response import Response
from toolcrib.net.urls import Destination

if TYPE_CHECKING:
    from toolcrib.net.line import Line

DEFAULT_TIMEOUT = 30.0
DEFAULT_LIMIT = 1024 * 1024


class GuardedClient:
    """Use one per process, inside one event loop, and `close` it.

    `proxy` is `TOOLCRIB_EGRESS_PROXY`'s text; `tls` replaces the system's trust store (which
    honours SSL_CERT_FILE); `per_upstream` is how many connections one host and port may have.
    """

    def __init__(
        self,
        policy: EgressPolicy,
        *,
        resolver: Resolver | None = None,
        proxy: str = "",
        tls: ssl.SSLContext | None = None,
        per_upstream: int = 64,
        connect_timeout: float = 10.0,
    ) -> None:
        self._guard = Guard(policy, resolver or ThreadedResolver())
        self._proxy = Proxy(proxy) if proxy else None
        self._tls = tls
        self._per_upstream = per_upstream
        self._connect_timeout = connect_timeout
        self._line: Line | None = None
        self._deadlines = Deadlines()
        self._closed = False

    @property
    def guard(self) -> Guard:
        """The guard itself, for other clients that make their own connections."""
        return self._guard

    async def verdict(self, url: str) -> Verdict:
        """What the guard says to a URL; nothing is sent."""
        return await self._guard.verdict(url)

    def refusal(self, url: str) -> str | None:
        """Why the guard may refuse a URL, as far as can be told without a lookup; else None."""
        try:
            place, _ = self._guard.policy.check_url(url)
        except EgressBlocked as error:
            return f"{error.message} {error.hint or ''}".strip()
        if place.scheme == "https" or place.listed or place.address is not None:
            return None
        where = f"{SETTING}={place.place}"
        return f"http:// to {place.host!r} is refused unless the operator allows it: {where}"

    async def request(
        self,
        method: str,
        url: str,
        *,
        headers: Headers | None = None,
        body: Body | None = None,
        length: int | None = None,
        timeout: float = DEFAULT_TIMEOUT,  # noqa: ASYNC109  # the caller's word for the deadline
        limit: int = DEFAULT_LIMIT,
        follow_redirects: bool = False,
        credentials: bool = False,
        on_sent: Callable[[], None] | None = None,
    ) -> Response:
        """Send, and read the answer up to `limit` bytes within `timeout` seconds.

        `length` is the size of a streamed body. `credentials`: the request carries secrets, so no
        redirect takes it to another origin. `on_sent` is called when a connection takes the
        request. Any status is an answer, not an error. Raises
        InvalidRequest, EgressBlocked, SourceUnreachable, SourceTimeout and SourceProtocolError;
        the last four say in `sent` whether the request may have arrived. What a streamed body
        raises comes out as it is.
        """
        request = outgoing(method, headers, body, length=length, credentials=credentials)
        place, path = self._guard.policy.check_url(url)
        response: Response | None = None
        try:
            with self._deadlines.within(timeout):
                response = await self._open().send(request, place, path, limit, on_sent)
                if follow_redirects:
                    response = await self._follow(request, place, response, limit)
                return response
        except TimeoutError:
            going = trip.current.get()
        raise SourceTimeout(
            f"{going.place.place} did not answer within {timeout:g} s.",
            sent=going.sent or response is not None,
        )

    async def warm(self) -> None:
        """Load what speaks HTTP, in a thread, so that the first request need not."""
        await asyncio.to_thread(import_module, "toolcrib.net.line")

    async def change_policy(self, policy: EgressPolicy) -> None:
        """Judge by other rules from now on; connections made under the old ones are closed."""
        self._guard.policy = policy
        await self._close_line()

    async def close(self) -> None:
        self._closed = True
        await self._close_line()
        self._deadlines.close()
        await self._guard.resolver.close()

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        await self.close()

    async def _follow(
        self, request: Outgoing, here: Destination, response: Response, limit: int
    ) -> Response:
        for _ in range(redirects.MAX_REDIRECTS):
            url = redirects.location(response)
            if url is None:
                return response
            try:
                there, path = self._guard.policy.check_url(url)
                request = redirects.step(request, response.status, here=here, there=there)
                here, response = there, await self._open().send(request, there, path, limit)
            except SourceError as failure:
                failure.sent = True
                raise
        if redirects.location(response) is None:
            return response
        raise SourceProtocolError(
            f"{here.place} redirects more than {redirects.MAX_REDIRECTS} times.", sent=True
        )

    def _open(self) -> Line:
        if self._closed:
            raise RuntimeError("The client is closed.")
        if self._line is None:
            from toolcrib.net.line import Line  # noqa: PLC0415 - heavy, and many servers send nothing

            self._line = Line(
                self._guard,
                proxy=self._proxy,
                tls=self._tls,
                per_upstream=self._per_upstream,
                connect_timeout=self._connect_timeout,
            )
        return self._line

    async def _close_line(self) -> None:
        line, self._line = self._line, None
        if line is not None:
            await line.close()
