"""This module adds a login's token to each request that a connection sends.

It is a transport and no `Auth` of the HTTP library: what goes wrong while a token is renewed must
become the answer of one request, and must not end the connection of all.
"""

from __future__ import annotations

import httpx2

from toolcrib.sources.oauth.bearing import Bearer

_UNAUTHORIZED = 401


class Authorized(httpx2.AsyncBaseTransport):
    """Another transport, with a token on every request. A refused token is renewed once: the
    server did nothing for it, so the request is sent again."""

    def __init__(self, inner: httpx2.AsyncBaseTransport, bearer: Bearer) -> None:
        self._inner = inner
        self._bearer = bearer

    async def handle_async_request(self, request: httpx2.Request) -> httpx2.Response:
        token = await self._bearer.token()
        request.headers["Authorization"] = f"Bearer {token}"
        response = await self._sent(request)
        if response.status_code != _UNAUTHORIZED:
            return response
        await response.aclose()
        newer = await self._bearer.token(stale=token)
        if newer == token:
            return httpx2.Response(_UNAUTHORIZED, headers={"Content-Type": "text/plain"})
        request.headers["Authorization"] = f"Bearer {newer}"
        return await self._sent(request)

    async def _sent(self, request: httpx2.Request) -> httpx2.Response:
        """Raises ScopesWanted for a refusal that another login would mend."""
        response = await self._inner.handle_async_request(request)
        if request.method != "POST":
            return response
        told = response.headers.get_list("WWW-Authenticate")
        refusal = await self._bearer.refusal(response.status_code, told)
        if refusal is None:
            return response
        await response.aclose()
        raise refusal

    async def aclose(self) -> None:
        await self._inner.aclose()
