"""This module reads a request's body once, within a limit, and lets it be read again."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from typing import Any

from starlette.types import Message, Receive, Scope

from toolcrib.errors import InvalidRequest

MAX_BODY = 4 * 1024 * 1024
"""The largest body, in bytes."""


PARSE_ERROR = -32700
INVALID_REQUEST = -32600
INTERNAL_ERROR = -32603


class Unreadable(Exception):
    """A body that is refused before the protocol looks at it, with HTTP's status and the code."""

    def __init__(self, status: int, code: int, message: str, data: Mapping[str, Any]) -> None:
        super().__init__(message)
        self.status = status
        self.code = code
        self.data = data


def too_large() -> Unreadable:
    words = f"The body is larger than {MAX_BODY} bytes."
    return Unreadable(413, INVALID_REQUEST, words, {"code": "too_large"})


def not_json(error: InvalidRequest) -> Unreadable:
    data = {"code": "invalid_json", **({"where": error.where} if error.where else {})}
    return Unreadable(400, PARSE_ERROR, error.message, data)


def a_batch() -> Unreadable:
    words = "Batches are not taken: send each message in a request of its own."
    return Unreadable(400, INVALID_REQUEST, words, {"code": "invalid_request"})


def too_many_sessions() -> Unreadable:
    words = (
        "You have too many sessions open: end those that nobody uses with DELETE, or speak the "
        "version 2026-07-28, which has none."
    )
    return Unreadable(503, INTERNAL_ERROR, words, {"code": "too_many"})


class Disconnected(Exception):
    """The client is gone before its request was whole."""


async def read_body(scope: Scope, receive: Receive) -> bytes:
    """Raises Unreadable for one that is too large, at once where it says so; Disconnected."""
    for name, value in scope["headers"]:
        if name == b"content-length" and value.isdigit() and int(value) > MAX_BODY:
            raise too_large()
    message = await receive()
    body: bytes = message.get("body", b"")
    if not message.get("more_body"):
        return _whole(message, body)
    parts = bytearray(body)
    while message.get("more_body"):
        message = await receive()
        parts += message.get("body", b"")
        if len(parts) > MAX_BODY:
            raise too_large()
    return _whole(message, bytes(parts))


def _whole(message: Message, body: bytes) -> bytes:
    if message["type"] == "http.disconnect":
        raise Disconnected
    if len(body) > MAX_BODY:
        raise too_large()
    return body


def again(body: bytes, receive: Receive) -> Callable[[], Awaitable[Message]]:
    """A `receive` that gives the body first, and then what the client does next."""
    given = False

    async def receive_again() -> Message:
        nonlocal given
        if given:
            return await receive()
        given = True
        return {"type": "http.request", "body": body, "more_body": False}

    return receive_again
