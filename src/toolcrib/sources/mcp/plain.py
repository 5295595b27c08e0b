"""This module speaks the legacy form: each message is one plain POST of JSON-RPC, no session."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from itertools import count
from typing import Any, Protocol, cast

import orjson
from pydantic_core import from_json

from toolcrib.errors import SourceProtocolError
from toolcrib.net.response import Response
from toolcrib.sources.mcp.conversation import Ask, Refused
from toolcrib.sources.mcp.limits import BODY_LIMIT
from toolcrib.sources.mcp.mending import mended
from toolcrib.sources.mcp.servers import HttpServer
from toolcrib.sources.mcp.weighing import TooMuch, aside, weighed


class Poster(Protocol):
    """The way out: `net.client.GuardedClient`."""

    async def request(
        self,
        method: str,
        url: str,
        *,
        headers: Mapping[str, str],
        body: bytes,
        timeout: float,  # noqa: ASYNC109 - the client's own deadline
        limit: int,
        credentials: bool,
    ) -> Response: ...


_ids = count(1)


class PlainConversation:
    """A conversation that needs no connection of its own: it is always ready."""

    def __init__(self, server: HttpServer, poster: Poster) -> None:
        self._server = server
        self._poster = poster
        self._over = asyncio.Event()
        self.ready: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self.ready.set_result(None)

    tells = False
    """Nobody could tell us anything."""

    @property
    def is_over(self) -> bool:
        return self._over.is_set()

    async def run(self) -> None:
        await self._over.wait()

    def close(self) -> None:
        self._over.set()

    def retire(self) -> None:
        """A POST needs nobody to stay."""
        self.close()

    async def page(self, cursor: str | None, timeout: float) -> Mapping[str, Any]:  # noqa: ASYNC109
        params = {"cursor": cursor} if cursor else {}
        return await post(self._poster, self._server, "tools/list", params, timeout=timeout)

    async def call(self, ask: Ask) -> Mapping[str, Any]:
        params = {"name": ask.name, "arguments": dict(ask.arguments)}
        return await post(self._poster, self._server, "tools/call", params, timeout=ask.timeout)


async def post(
    poster: Poster,
    server: HttpServer,
    method: str,
    params: Mapping[str, Any],
    *,
    timeout: float,  # noqa: ASYNC109 - as above
) -> Mapping[str, Any]:
    """The result. Raises Refused for a JSON-RPC error, SourceError for everything else."""
    number = next(_ids)
    message = {"jsonrpc": "2.0", "id": number, "method": method, "params": dict(params)}
    body = orjson.dumps(message)
    token = await server.auth.token() if server.auth else None
    response = await _posted(poster, server, body, token, timeout)
    if response.status == _UNAUTHORIZED and server.auth is not None:
        newer = await server.auth.token(stale=token)
        if newer != token:
            response = await _posted(poster, server, body, newer, timeout)
    if server.auth is not None:
        told = response.headers.getall("WWW-Authenticate", ())
        refusal = await server.auth.refusal(response.status, told)
        if refusal is not None:
            raise Refused(str(refusal), rpc_code=0, code="not_granted", status=response.status)
    return await aside(_result, response.body, response, number)


async def _posted(
    poster: Poster,
    server: HttpServer,
    body: bytes,
    token: str | None,
    timeout: float,  # noqa: ASYNC109 - as above
) -> Response:
    headers = {name: value for name, value in server.headers.items() if name.lower() not in _OURS}
    if token is not None:
        headers["Authorization"] = f"Bearer {token}"
    return await poster.request(
        "POST",
        server.url,
        headers={**headers, "Content-Type": "application/json", "Accept": "application/json"},
        body=body,
        timeout=timeout,
        limit=BODY_LIMIT,
        credentials=True,
    )


_UNAUTHORIZED = 401
_OURS = {"content-type", "accept"}


def _result(body: bytes, response: Response, number: int) -> Mapping[str, Any]:
    try:
        answer: object = None if response.truncated else from_json(mended(weighed(body)))
    except TooMuch as error:
        raise SourceProtocolError(str(error), sent=True) from None
    except ValueError:
        answer = None
    told: Mapping[str, Any] = {}
    if isinstance(answer, Mapping):
        told = cast("Mapping[str, Any]", answer)
    error = told.get("error")
    if isinstance(error, Mapping):
        given = cast("Mapping[str, Any]", error)
        code = given.get("code")
        words = str(given.get("message") or f"error {code}")
        raise Refused(words, rpc_code=code if isinstance(code, int) else 0)
    result = told.get("result")
    is_ours = told.get("id") in (number, str(number))
    if not response.ok or not isinstance(result, Mapping) or not is_ours:
        what = "more than is read" if response.truncated else f"HTTP {response.status}"
        raise SourceProtocolError(f"The server answered {what} and no JSON-RPC result.", sent=True)
    return cast("Mapping[str, Any]", result)
