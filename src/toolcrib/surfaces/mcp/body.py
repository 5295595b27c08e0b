"""This module reads a request's body once, within a limit, and lets it be read again."""

from __future__ import annotations

from collections.abc import Awaitable, Callable

from starlette.types import Message, Receive, Scope

MAX_BODY = 4 * 1024 * 1024
"""The largest body, in bytes."""


class TooLarge(Exception):
    """The body is larger than MAX_BODY."""


class Disconnected(Exception):
    """The client is gone before its request was whole."""


async def read_body(scope: Scope, receive: Receive) -> bytes:
    """Raises TooLarge, if need be before the body is read, and Disconnected."""
    for name, value in scope["headers"]:
        if name == b"content-length" and value.isdigit() and int(value) > MAX_BODY:
            raise TooLarge
    message = await receive()
    body: bytes = message.get("body", b"")
    if not message.get("more_body"):
        return _whole(message, body)
    parts = bytearray(body)
    while message.get("more_body"):
        message = await receive()
        parts += message.get("body", b"")
        if len(parts) > MAX_BODY:
            raise TooLarge
    return _whole(message, bytes(parts))


def _whole(message: Message, body: bytes) -> bytes:
    if message["type"] == "http.disconnect":
        raise Disconnected
    if len(body) > MAX_BODY:
        raise TooLarge
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
