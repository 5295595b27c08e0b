"""This module posts to a server past the protocol library, with the headers that it would send.

The connections, cookies and headers are those of the library's own client. What only the library
hears, the session's name and that the handshake is over, is overheard from its answers.
"""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import AbstractAsyncContextManager
from typing import Final

import httpx2
import orjson

from toolcrib.net.posting import Posted, Posting, Template
from toolcrib.net.streaming import EVENTS, GuardedTransport
from toolcrib.sources.oauth.bearing import Bearer

_SESSION: Final = "mcp-session-id"
_LAST_EVENT: Final = "last-event-id"
_ASKED: Final = {"accept": f"application/json, {EVENTS}", "content-type": "application/json"}
_UNAUTHORIZED: Final = 401
_CONNECT: Final = 10.0


class Door:
    """Open to calls once the handshake is over; a server of the newer era has none."""

    def __init__(
        self,
        client: httpx2.AsyncClient,
        transport: GuardedTransport,
        url: str,
        bearer: Bearer | None,
    ) -> None:
        self._client = client
        self._url = httpx2.URL(url)
        self._has_login = bool(self._url.userinfo)
        self._bearer = bearer
        self._posting = Posting(transport, self._url, client.timeout.connect or _CONNECT)
        self._usual: Template | None = None
        self.session: str | None = None
        self.shaken = False
        """The handshake is over, as far as the server heard of it."""
        client.event_hooks = {"response": [self._overhear]}

    @property
    def is_open(self) -> bool:
        """Not before the handshake is over, and never for an address with a login of its own,
        which the library's client knows how to send."""
        return self.shaken and not self._has_login

    async def post(self, headers: Mapping[str, str], body: bytes) -> Posted:
        """`headers` beside the usual ones. A token that is refused is renewed once: the server did
        nothing for it. Raises httpx2's errors and ToolcribError."""
        bearer = self._bearer
        if bearer is None:
            return await self._posted(headers, body)
        token = await bearer.token()
        posted = await self._posted_by(bearer, token, headers, body)
        if posted.status != _UNAUTHORIZED:
            return posted
        await posted.aclose()
        newer = await bearer.token(stale=token)
        if newer == token:
            return posted
        return await self._posted_by(bearer, newer, headers, body)

    async def _posted_by(
        self, bearer: Bearer, token: str, headers: Mapping[str, str], body: bytes
    ) -> Posted:
        """Raises ScopesWanted for a refusal that another login would mend."""
        posted = await self._posted({**headers, "Authorization": f"Bearer {token}"}, body)
        wanted = [value for name, value in posted.pairs if name.lower() == "www-authenticate"]
        refusal = await bearer.refusal(posted.status, wanted)
        if refusal is None:
            return posted
        await posted.aclose()
        raise refusal

    async def aclose(self) -> None:
        await self._posting.aclose()

    def resumed(
        self, headers: Mapping[str, str], last_id: str
    ) -> AbstractAsyncContextManager[httpx2.Response]:
        """What comes after an event of a stream that broke off."""
        asked = {**self._asked(), **headers, "cache-control": "no-store", _LAST_EVENT: last_id}
        return self._client.stream("GET", self._url, headers=asked)

    async def _posted(self, headers: Mapping[str, str], body: bytes) -> Posted:
        if self._usual is None or self._client.cookies:
            self._usual = Template(self._as_the_client())
        posted = await self._posting.post(self._usual, headers, body)
        if "set-cookie" in posted.headers:
            self._client.cookies.extract_cookies(self._as_answer(posted))
        return posted

    def _as_the_client(self) -> list[tuple[str, str]]:
        """The headers that every request has."""
        request = self._client.build_request("POST", self._url, headers=self._asked())
        coding = request.headers.encoding
        pairs = [(name.decode(coding), value.decode(coding)) for name, value in request.headers.raw]
        return [pair for pair in pairs if pair[0].lower() != "content-length"]

    def _as_answer(self, posted: Posted) -> httpx2.Response:
        return httpx2.Response(
            posted.status, headers=posted.pairs, request=httpx2.Request("POST", self._url)
        )

    def _asked(self) -> dict[str, str]:
        return {**_ASKED, **({_SESSION: self.session} if self.session else {})}

    async def _overhear(self, response: httpx2.Response) -> None:
        if self.shaken or response.request.method != "POST":
            return
        method = orjson.loads(await response.request.aread()).get("method")
        if method == "initialize" and response.status_code < 300:
            self.session = response.headers.get(_SESSION)
        elif method == "notifications/initialized":
            self.shaken = True
