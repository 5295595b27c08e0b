"""This module is an MCP server that takes tokens of an authorization server, and none else."""

from __future__ import annotations

from typing import Any

from aiohttp import web

from tests.support.authorizing import Authorizing
from tests.support.mcp_http import Era, HttpMcp


class GuardedMcp(HttpMcp):
    """`received` is all that ever arrived, as text; `tokens` those that it took, in order."""

    def __init__(self, trusts: Authorizing, era: Era = "session", *, port: int = 0) -> None:
        super().__init__(era, port=port)
        self._trusts = trusts
        self.received: list[str] = []
        self.tokens: list[str] = []
        self.metadata: dict[str, Any] = {}
        self.hints = True
        self.refuses = False

    def _add_more(self, app: web.Application) -> None:
        app.router.add_get("/.well-known/oauth-protected-resource/mcp", self._resource)
        app.middlewares.append(self._listen)

    @web.middleware
    async def _listen(self, request: web.Request, handler: Any) -> web.StreamResponse:
        body = await request.text()
        self.received.append(f"{request.method} {request.url} {dict(request.headers)} {body}")
        if request.path != "/mcp":
            return await handler(request)
        token = request.headers.get("Authorization", "").removeprefix("Bearer ")
        if self.refuses or not self._trusts.knows(token, self.url):
            where = f"http://{self.place}/.well-known/oauth-protected-resource/mcp"
            hint = f'Bearer resource_metadata="{where}"' if self.hints else "Bearer"
            return web.Response(status=401, headers={"WWW-Authenticate": hint})
        self.tokens.append(token)
        return await handler(request)

    async def _resource(self, request: web.Request) -> web.Response:
        document = {
            "resource": self.url,
            "authorization_servers": [self._trusts.url],
            "scopes_supported": ["tools"],
            **self.metadata,
        }
        return web.json_response(document)
