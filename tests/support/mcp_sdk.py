"""This module is a well-behaved MCP server of the SDK. Its tools do what passes through a gateway:
they ask, tell how far they are, write log lines, wait, and give every kind of content."""

from __future__ import annotations

import asyncio
import base64
from typing import Any

import mcp_types as types
from mcp.server.lowlevel import Server
from mcp_types.version import MODERN_PROTOCOL_VERSIONS
from starlette.responses import Response
from starlette.types import Receive, Scope, Send

OBJECT: dict[str, Any] = {"type": "object", "properties": {}}
FORM: dict[str, Any] = {
    "type": "object",
    "properties": {"town": {"type": "string"}},
    "required": ["town"],
}
PIXEL = base64.b64encode(b"\x89PNG made up").decode()
CONTENT: list[dict[str, Any]] = [
    {"type": "text", "text": "words", "annotations": {"audience": ["user"], "priority": 0.5}},
    {"type": "image", "data": PIXEL, "mimeType": "image/png", "_meta": {"made.up/k": 1}},
    {"type": "audio", "data": PIXEL, "mimeType": "audio/wav"},
    {
        "type": "resource",
        "resource": {"uri": "made://up/1", "mimeType": "text/plain", "text": "inside"},
    },
    {"type": "resource_link", "uri": "made://up/2", "name": "far away", "mimeType": "text/plain"},
]
STRUCTURED = {"ids": ["a", "b"]}
META = {"made.up/key": {"deep": [1, 2]}}
TOOLS: list[dict[str, Any]] = [
    {
        "name": "kinds",
        "title": "Every kind",
        "description": "Gives every kind of content.",
        "inputSchema": OBJECT,
        "outputSchema": {
            "type": "object",
            "properties": {"ids": {"type": "array", "items": {"type": "string"}}},
            "required": ["ids"],
        },
        "annotations": {"title": "Kinds", "readOnlyHint": True, "openWorldHint": False},
        "icons": [{"src": "data:image/png;base64,AAAA", "mimeType": "image/png"}],
        "_meta": {"made.up/tool": "yes"},
    },
    {"name": "fails", "description": "Fails in its own words.", "inputSchema": OBJECT},
    {"name": "asks", "description": "Asks for a town.", "inputSchema": OBJECT},
    {"name": "counts", "description": "Tells how far it is.", "inputSchema": OBJECT},
    {"name": "talks", "description": "Writes log lines.", "inputSchema": OBJECT},
    {"name": "waits", "description": "Waits until it is cancelled.", "inputSchema": OBJECT},
]


class SdkMcp:
    """An ASGI application; with `session` it knows only the older era."""

    def __init__(self, *, session: bool = False) -> None:
        self.session = session
        self.waiting = asyncio.Event()
        self.cancelled = asyncio.Event()
        self.tools = list(TOOLS)
        self.server = Server(
            "made-up",
            version="1",
            on_list_tools=self._list,
            on_call_tool=self._call,
            get_tool_input_schema=lambda name: OBJECT,
        )
        self._app = self.server.streamable_http_app()

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if self.session and scope["type"] == "http":
            for name, value in scope["headers"]:
                if name == b"mcp-protocol-version" and value.decode() in MODERN_PROTOCOL_VERSIONS:
                    await Response(status_code=400)(scope, receive, send)
                    return
        await self._app(scope, receive, send)

    async def _list(self, ctx: Any, params: Any) -> Any:
        return {"tools": self.tools, "ttlMs": 0, "cacheScope": "private", "resultType": "complete"}

    async def _call(self, ctx: Any, params: types.CallToolRequestParams) -> Any:
        return {"resultType": "complete", **await getattr(self, f"_{params.name}")(ctx, params)}

    async def _kinds(self, ctx: Any, params: Any) -> Any:
        return {"content": CONTENT, "structuredContent": STRUCTURED, "_meta": META}

    async def _fails(self, ctx: Any, params: Any) -> Any:
        block = {"type": "text", "text": "it broke"}
        return {"content": [block], "isError": True, "_meta": META}

    async def _asks(self, ctx: Any, params: types.CallToolRequestParams) -> Any:
        if ctx.protocol_version not in MODERN_PROTOCOL_VERSIONS:
            given = await ctx.session.elicit_form("Which town?", FORM, ctx.request_id)
            return _town(given.model_dump(by_alias=True))
        if params.input_responses is None:
            asked = {"message": "Which town?", "requestedSchema": FORM}
            request = {"method": "elicitation/create", "params": asked}
            return {
                "resultType": "input_required",
                "inputRequests": {"town": request},
                "requestState": "made-up-state",
            }
        assert params.request_state == "made-up-state"
        answer = params.input_responses["town"]
        return _town(answer.model_dump(by_alias=True))

    async def _counts(self, ctx: Any, params: Any) -> Any:
        for step in (1.0, 2.0):
            await ctx.session.report_progress(step, 2.0, f"step {step:g}")
        return _words("counted")

    async def _talks(self, ctx: Any, params: Any) -> Any:
        for level in ("debug", "warning"):
            told = {"level": level, "data": {"said": level}, "logger": "made-up"}
            message = types.LoggingMessageNotification(
                params=types.LoggingMessageNotificationParams.model_validate(told)
            )
            await ctx.session.send_notification(message, ctx.request_id)
        return _words("talked")

    async def _waits(self, ctx: Any, params: Any) -> Any:
        self.waiting.set()
        try:
            await asyncio.Event().wait()
        finally:
            self.cancelled.set()


def _town(answer: dict[str, Any]) -> dict[str, Any]:
    content = answer.get("content") or {}
    return _words(f"{answer['action']}: {content.get('town')}")


def _words(text: str) -> dict[str, Any]:
    return {"content": [{"type": "text", "text": text}]}
