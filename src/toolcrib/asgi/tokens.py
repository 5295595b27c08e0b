"""This module asks for one token that is known beforehand, where there are no users."""

from __future__ import annotations

from hmac import compare_digest

from starlette.types import ASGIApp, Receive, Scope, Send

from toolcrib.identity.tokens import bearer
from toolcrib.surfaces.http.problems import problem


class TokenRequired:
    """Lets requests through that bring the token; all of them where it is empty."""

    def __init__(self, app: ASGIApp, token: str) -> None:
        self._app = app
        self._token = token.encode()

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "http" and self._token and not self._is_known(scope):
            refusal = problem(
                401,
                "No valid token came with the request.",
                code="not_authenticated",
                headers={"WWW-Authenticate": "Bearer"},
            )
            await refusal(scope, receive, send)
            return
        await self._app(scope, receive, send)

    def _is_known(self, scope: Scope) -> bool:
        given = [value for name, value in scope["headers"] if name == b"authorization"]
        said = bearer(given[0].decode("latin-1")) if len(given) == 1 else None
        return said is not None and compare_digest(said.encode(), self._token)
