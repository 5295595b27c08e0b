"""This module reads requests strictly: JSON bodies bounded, with every key once, and nothing
behind; queries without a word that the route has not."""

from __future__ import annotations

from collections.abc import Callable, Coroutine
from typing import Any, cast

from fastapi.routing import APIRoute
from starlette.requests import Request
from starlette.responses import Response

from toolcrib.errors import InvalidRequest
from toolcrib.surfaces.http.places import is_open
from toolcrib.surfaces.http.problems import Refusal
from toolcrib.surfaces.http.querying import query_names, require_known
from toolcrib.tools.strict_json import read_strict_json

MAX_BODY = 1024 * 1024
"""The largest JSON body, in bytes."""
MAX_DEPTH = 100

Handler = Callable[[Request], Coroutine[Any, Any, Response]]


class StrictRequest(Request):
    """A request whose body is JSON, or nothing."""

    async def body(self) -> bytes:
        if not hasattr(self, "_body"):
            self._body = await self._bounded()
            if self._body and not is_json(self.headers.get("content-type", "")):
                raise Refusal(
                    415,
                    "The body is not declared as JSON.",
                    where="Content-Type",
                    hint="Send `Content-Type: application/json`.",
                )
        return self._body

    async def json(self) -> Any:
        return strict_json(await self.body())

    async def _bounded(self) -> bytes:
        declared = self.headers.get("content-length", "")
        if declared.isdecimal() and int(declared) > MAX_BODY:
            raise _too_large()
        whole = bytearray()
        async for chunk in self.stream():
            whole += chunk
            if len(whole) > MAX_BODY:
                raise _too_large()
        return bytes(whole)


class StrictRoute(APIRoute):
    """A route that reads its JSON body with the rules of this module, and its query with those of
    querying.py: but for open places, where foreign programs say things that we need not know."""

    def get_route_handler(self) -> Handler:
        handler = super().get_route_handler()
        known = None if is_open(self.path) else query_names(self.dependant)
        has_body = self.body_field is not None

        async def strictly(request: Request) -> Response:
            if known is not None:
                require_known(request, known)
            if has_body:
                request = StrictRequest(request.scope, request.receive)
            return await handler(request)

        return strictly


def strict_json(text: str | bytes, *, what: str | None = None) -> Any:
    """The value. Raises Refusal; `what` names a parameter that holds the text."""
    try:
        value = read_strict_json(text)
    except InvalidRequest as error:
        where = ", ".join(part for part in (what, error.where) if part) or None
        raise Refusal(
            400, error.message, code="invalid_json", where=where, hint=error.hint
        ) from None
    if _may_be_deep(text) and _depth_over(value, MAX_DEPTH):
        raise Refusal(
            400, f"The JSON is nested deeper than {MAX_DEPTH} levels.", code="invalid_json"
        )
    return value


def is_json(declared: str) -> bool:
    """Whether a Content-Type says JSON."""
    media_type = declared.partition(";")[0].strip().lower()
    return media_type == "application/json" or (
        media_type.startswith("application/") and media_type.endswith("+json")
    )


def _may_be_deep(text: str | bytes) -> bool:
    """Whether it opens more than it takes to be too deep; nearly no text does."""
    if isinstance(text, str):
        return text.count("{") + text.count("[") > MAX_DEPTH
    return text.count(b"{") + text.count(b"[") > MAX_DEPTH


def _depth_over(value: Any, limit: int) -> bool:
    level = [value]
    for _ in range(limit):
        level = [
            child
            for node in level
            if isinstance(node, dict | list)
            for child in (
                cast("dict[str, Any]", node).values()
                if isinstance(node, dict)
                else cast("list[Any]", node)
            )
        ]
        if not level:
            return False
    return True


def _too_large() -> Refusal:
    return Refusal(413, f"The body is larger than {MAX_BODY} bytes.")
