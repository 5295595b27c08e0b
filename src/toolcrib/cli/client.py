"""This module speaks REST to Toolcrib, in this process or elsewhere: the same verbs either way."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, cast

import httpx

from toolcrib.cli.exits import error_of
from toolcrib.errors import SourceProtocolError, SourceTimeout, SourceUnreachable

if TYPE_CHECKING:
    from toolcrib.platform import Platform

Json = Any


class Client:
    """One caller's way in. `platform` is the open one when it is in this process."""

    def __init__(
        self,
        http: httpx.AsyncClient,
        *,
        platform: Platform | None = None,
        headers: Mapping[str, str] | None = None,
    ) -> None:
        self.http = http
        self.platform = platform
        self.headers = dict(headers or {})

    async def get(self, path: str, **query: Any) -> Json:
        given = {key: _word(value) for key, value in query.items() if value is not None}
        return await self._ask("GET", path, params=given)

    async def post(self, path: str, body: Json = None, *, files: Any = None) -> Json:
        return await self._ask("POST", path, json=body, files=files)

    async def post_if(self, path: str, body: Json, *, match: str) -> Json:
        """Only if the thing still has this tag; otherwise a conflict."""
        return await self._ask("POST", path, json=body, more={"If-Match": f'"{match}"'})

    async def put(self, path: str, body: Json) -> Json:
        return await self._ask("PUT", path, json=body)

    async def store(self, path: str, body: Json) -> str:
        """Put what is never shown again; returns what one should know about it, if anything."""
        answer = await self._answer("PUT", path, {}, json=body)
        return answer.headers.get("X-Toolcrib-Note", "")

    async def patch(self, path: str, body: Json, *, version: int | None = None) -> Json:
        headers = {} if version is None else {"If-Match": f'"{version}"'}
        return await self._ask("PATCH", path, json=body, more=headers)

    async def delete(self, path: str, **query: Any) -> Json:
        given = {key: _word(value) for key, value in query.items() if value is not None}
        return await self._ask("DELETE", path, params=given)

    def acting(self, *, user: int | None = None, group: int | None = None) -> Client:
        """A client for another user, or in one of the groups."""
        named = {"X-Toolcrib-User": user, "X-Toolcrib-Group": group}
        headers = {key: str(value) for key, value in named.items() if value is not None}
        return Client(self.http, platform=self.platform, headers=self.headers | headers)

    async def _ask(
        self, method: str, path: str, *, more: Mapping[str, str] | None = None, **options: Any
    ) -> Json:
        answer = await self._answer(method, path, more or {}, **options)
        return json.loads(answer.content) if answer.content else None

    async def _answer(
        self, method: str, path: str, more: Mapping[str, str], **options: Any
    ) -> httpx.Response:
        headers = self.headers | dict(more)
        try:
            answer = await self.http.request(method, path, headers=headers, **options)
        except httpx.TimeoutException:
            raise SourceTimeout(f"{self.http.base_url} did not answer in time.") from None
        except (httpx.TransportError, httpx.InvalidURL, httpx.UnsupportedProtocol) as error:
            raise SourceUnreachable(
                f"No Toolcrib answers at {self.http.base_url}: {error}.",
                hint="See that the server runs and that --url is right.",
            ) from None
        _check(answer)
        return answer


def _check(answer: httpx.Response) -> None:
    """Raises the error that a problem document was made of."""
    body: Any = None
    try:
        body = json.loads(answer.content or b"null")
    except ValueError:
        raise SourceProtocolError(
            f"{answer.request.url.copy_with(query=None)} answered {answer.status_code} with "
            "something that is not JSON.",
            hint="See that --url is the address of a Toolcrib.",
        ) from None
    if not answer.is_success:
        problem = cast("dict[str, Any]", body) if isinstance(body, dict) else dict[str, Any]()
        raise error_of(answer.status_code, problem)


def _word(value: Any) -> str:
    return str(value).lower() if isinstance(value, bool) else str(value)
