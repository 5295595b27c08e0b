"""This module answers calls of tools the short way, for they are most of what a server does.

It is a middleware before the framework: a call whose path, headers and body are as they should be
runs at once, and everything else goes on to the route of the same path, which says what is wrong.
Both read, run and answer with the same functions.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from pydantic import ValidationError
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from toolcrib.errors import ToolcribError
from toolcrib.surfaces.http.asking import SCOPE_CALLER
from toolcrib.surfaces.http.problems import Refusal, of_error
from toolcrib.surfaces.http.reading import MAX_BODY, is_json, strict_json
from toolcrib.surfaces.http.routes.tools import answered
from toolcrib.surfaces.http.shapes.tools import CallBody
from toolcrib.surfaces.http.writing import Json

_CALL = re.compile(r"/api/v1/agents/([1-9][0-9]{0,17})/tools/(.{1,512})/call")


class Calling:
    """The innermost middleware: it expects a Caller in the scope and an open platform."""

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        asked = _asked(scope)
        if asked is None:
            await self._app(scope, receive, send)
            return
        taken: list[Message] = []
        body = _understood(await _whole(receive, taken))
        if body is None:
            await self._app(scope, _again(taken, receive), send)
            return
        desk = scope["app"].state.platform.desk
        try:
            response = Json(await answered(desk, scope[SCOPE_CALLER], *asked, body))
        except ToolcribError as error:
            response = of_error(error)
        await response(scope, receive, send)


def _asked(scope: Scope) -> tuple[int, str] | None:
    """The agent's id and the tool's name, where the request's head leaves nothing to say."""
    if scope["type"] != "http" or scope["method"] != "POST" or scope["query_string"]:
        return None
    match = _CALL.fullmatch(scope["path"].removeprefix(scope.get("root_path", "")))
    if match is None:
        return None
    declared = b""
    for name, value in scope["headers"]:
        if name == b"content-type":
            declared = value
        elif name == b"idempotency-key":
            return None
    return (int(match[1]), match[2]) if is_json(declared.decode("latin-1")) else None


async def _whole(receive: Receive, taken: list[Message]) -> bytes | None:
    """The body, or None where it is too large or breaks off. What was received is in `taken`."""
    body = b""
    while True:
        message = await receive()
        taken.append(message)
        body += message.get("body", b"")
        if message["type"] != "http.request" or len(body) > MAX_BODY:
            return None
        if not message.get("more_body"):
            return body


def _understood(body: bytes | None) -> CallBody | None:
    if not body:
        return None
    try:
        return CallBody.model_validate(strict_json(body))
    except (Refusal, ValidationError):
        return None


def _again(taken: Sequence[Message], receive: Receive) -> Receive:
    """Receives what was taken once more, and then what is still to come."""
    left = iter(taken)

    async def again() -> Message:
        message = next(left, None)
        return await receive() if message is None else message

    return again
