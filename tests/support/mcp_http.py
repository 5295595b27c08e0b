"""This module is an MCP server over HTTP that does what a test wants, also what no server should.

It speaks one era, chosen by the test, on loopback; everything it is asked stands in `asked`.
"""

from __future__ import annotations

import asyncio
import json
from collections.abc import Awaitable, Callable, Mapping
from typing import Any, Literal, Self

from aiohttp import web

from tests.support.ports import quiet_port

Era = Literal["session", "modern", "plain", "sse"]
Tool = Callable[[Mapping[str, Any]], Awaitable[Mapping[str, Any]]]


def tool_of(name: str, **more: Any) -> dict[str, Any]:
    return {"name": name, "inputSchema": {"type": "object", "properties": {}}, **more}


def text(words: str, **more: Any) -> dict[str, Any]:
    return {"content": [{"type": "text", "text": words}], **more}


class HttpMcp:
    """Start it with `async with`. `tools` are listed, `answers` say what calls give.

    Its port stays quiet after its end, so that it may come back there.
    """

    def __init__(self, era: Era = "session", *, port: int = 0) -> None:
        self.era = era
        self.port = port or quiet_port()
        self.tools: list[Any] = [tool_of("echo")]
        self.pages: Mapping[str, Mapping[str, Any]] | None = None
        self.answers: dict[str, Tool] = {}
        self.asked: list[tuple[str, dict[str, Any], Mapping[str, str]]] = []
        self.sessions: set[str] = set()
        self.made = 0
        self.hang = False
        self.html = False
        self.status: int | None = None
        self.wants: dict[str, str] = {}
        """By the argument: the header in which a call must repeat it."""
        self.streams: list[asyncio.Queue[dict[str, Any]]] = []

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.port}/mcp"

    @property
    def place(self) -> str:
        return f"127.0.0.1:{self.port}"

    def count(self, method: str) -> int:
        return sum(1 for one, _, _ in self.asked if one == method)

    async def __aenter__(self) -> Self:
        app = web.Application()
        app.router.add_post("/mcp", self._post)
        app.router.add_get("/mcp", self._get)
        app.router.add_delete("/mcp", self._delete)
        self._add_more(app)
        self._runner = web.AppRunner(app, shutdown_timeout=0.1)
        await self._runner.setup()
        site = web.TCPSite(self._runner, "127.0.0.1", self.port)
        await site.start()
        return self

    async def __aexit__(self, *_: object) -> None:
        await self._runner.cleanup()

    def _add_more(self, app: web.Application) -> None:
        """For servers that do more than this one."""

    def notify(self, method: str) -> None:
        """Tell whoever listens."""
        for stream in self.streams:
            stream.put_nowait({"jsonrpc": "2.0", "method": method})

    async def _post(self, request: web.Request) -> web.StreamResponse:
        message = await request.json()
        method, params = message.get("method"), message.get("params") or {}
        self.asked.append((method, params, request.headers))
        if self.hang:
            await asyncio.sleep(3600)
        if self.html:
            return web.Response(text="<html>login</html>", content_type="text/html")
        if self.status is not None:
            return web.Response(status=self.status, text="no")
        if "id" not in message:
            return web.Response(status=202)
        known = request.headers.get("Mcp-Session-Id") in self.sessions
        if self.era == "session" and method != "initialize" and not known:
            lost = {"code": -32600, "message": "Session not found"}
            return _rpc(message, error=lost, status=404)
        if method == "tools/call" and not _repeats(request, params, self.wants):
            mismatch = {"code": -32020, "message": "Header mismatch"}
            return _rpc(message, error=mismatch, status=400)
        answer, headers = await self._answer(method, params)
        if self.era == "sse":
            self.streams[-1].put_nowait({"jsonrpc": "2.0", "id": message["id"], **answer})
            return web.Response(status=202)
        return web.json_response({"jsonrpc": "2.0", "id": message["id"], **answer}, headers=headers)

    async def _answer(
        self, method: str, params: Mapping[str, Any]
    ) -> tuple[dict[str, Any], dict[str, str]]:
        if method == "server/discover" and self.era == "modern":
            return {"result": _DISCOVERED}, {}
        if method == "initialize" and self.era in {"session", "sse"}:
            self.made += 1
            name = f"session-{self.made}"
            self.sessions.add(name)
            return {"result": _initialized(params)}, {"Mcp-Session-Id": name}
        if method == "tools/list":
            return {"result": self._page(params)}, {}
        if method == "tools/call":
            answer = self.answers.get(params["name"])
            given = params.get("arguments") or {}
            result = await answer(given) if answer else text(json.dumps(given))
            if "jsonrpc_error" in result:
                return {"error": result["jsonrpc_error"]}, {}
            return {"result": {"resultType": "complete", **result}}, {}
        return {"error": {"code": -32601, "message": f"no method {method}"}}, {}

    def _page(self, params: Mapping[str, Any]) -> dict[str, Any]:
        extra = {"resultType": "complete", "ttlMs": 0} if self.era == "modern" else {}
        if self.pages is not None:
            return {**self.pages[params.get("cursor") or ""], **extra}
        return {"tools": self.tools, **extra}

    async def _get(self, request: web.Request) -> web.StreamResponse:
        stream: asyncio.Queue[dict[str, Any]] = asyncio.Queue()
        if self.era == "modern" or self.hang:
            return web.Response(status=405)
        response = web.StreamResponse(headers={"Content-Type": "text/event-stream"})
        await response.prepare(request)
        self.streams.append(stream)
        try:
            if self.era == "sse":
                await response.write(b"event: endpoint\ndata: /mcp\n\n")
            while True:
                message = await stream.get()
                await response.write(f"event: message\ndata: {json.dumps(message)}\n\n".encode())
        finally:
            self.streams.remove(stream)

    async def _delete(self, request: web.Request) -> web.Response:
        self.sessions.discard(request.headers.get("Mcp-Session-Id", ""))
        return web.Response()


_INFO = {"name": "made-up", "version": "1"}
_DISCOVERED = {
    "resultType": "complete",
    "supportedVersions": ["2026-07-28"],
    "capabilities": {"tools": {"listChanged": False}},
    "ttlMs": 0,
    "cacheScope": "private",
    "_meta": {"io.modelcontextprotocol/serverInfo": _INFO},
}


def _initialized(params: Mapping[str, Any]) -> dict[str, Any]:
    return {
        "protocolVersion": params.get("protocolVersion", "2025-06-18"),
        "capabilities": {"tools": {"listChanged": True}},
        "serverInfo": _INFO,
    }


def _repeats(request: web.Request, params: Mapping[str, Any], wants: Mapping[str, str]) -> bool:
    given = params.get("arguments") or {}
    return all(request.headers.get(header) == given.get(name) for name, header in wants.items())


def _rpc(message: Mapping[str, Any], *, error: dict[str, Any], status: int) -> web.Response:
    body = {"jsonrpc": "2.0", "id": message.get("id"), "error": error}
    return web.json_response(body, status=status)
