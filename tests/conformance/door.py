"""This module is a door before the gateway: it adds the token that the suite cannot send, and the
agent that it means."""

from __future__ import annotations

from typing import Any


class TokenDoor:
    """The application, with `/mcp` meaning one agent's place and its user's token on requests."""

    def __init__(self, app: Any, *, path: str, token: str) -> None:
        self._app = app
        self._path = path
        self._token = token.encode()

    async def __call__(self, scope: Any, receive: Any, send: Any) -> None:
        if scope["type"] == "http" and scope["path"] == "/mcp":
            given = [*scope["headers"], (b"authorization", b"Bearer " + self._token)]
            scope = {**scope, "path": self._path, "raw_path": self._path.encode(), "headers": given}
        await self._app(scope, receive, send)
