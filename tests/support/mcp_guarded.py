"""This module is an MCP server that takes tokens of an authorization server, and none else."""

from __future__ import annotations

import json
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
        self.more: dict[str, str] = {}
        """By the tool: the scopes that a call of it needs."""

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
        named = self.metadata.get("resource", self.url)
        if self.refuses or not self._trusts.knows(token, named):
            where = f"http://{self.place}/.well-known/oauth-protected-resource/mcp"
            hint = f'Bearer resource_metadata="{where}"' if self.hints else "Bearer"
            return web.Response(status=401, headers={"WWW-Authenticate": hint})
        wanted = self._wanted(body)
        if wanted and not set(wanted.split()) <= set(self._trusts.scopes_of(token)):
            challenge = f'Bearer error="insufficient_scope", scope="{wanted}", realm="a, b"'
            return web.Response(status=403, headers={"WWW-Authenticate": challenge})
        self.tokens.append(token)
        return await handler(request)

    def _wanted(self, body: str) -> str:
        """The scopes that a request needs beyond those of the server."""
        message = json.loads(body) if body else {}
        if message.get("method") != "tools/call":
            return ""
        return self.more.get(message["params"]["name"], "")

    async def _resource(self, request: web.Request) -> web.Response:
        document = {
            "resource": self.url,
            "authorization_servers": [self._trusts.url],
            "scopes_supported": ["tools"],
            **self.metadata,
        }
        return web.json_response(document)
