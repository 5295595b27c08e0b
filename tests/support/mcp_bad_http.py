"""This module is an MCP server over HTTP that says what its script (`mcp_script`) says.

`streams`: it answers requests with streams of events. Beside the steps of `mcp_script` an answer
may be `{"http": {"status": …, "headers": …, "body": …}}`, sent as it is.
"""

from __future__ import annotations

import asyncio
import base64
import json
from collections.abc import Mapping
from typing import Any, Self

from aiohttp import web

from tests.support.mcp_script import Script, Step, repeated

_EVENTS = {"Content-Type": "text/event-stream"}


class BadHttp:
    """Start it with `async with`. `wire`: streamable, sse or jsonrpc, as our servers call it."""

    def __init__(
        self, script: Mapping[str, Any], *, wire: str = "streamable", streams: bool = False
    ) -> None:
        self._script = Script(dict(script))
        self._wire = wire
        self._streams = streams
        self._stream: asyncio.Queue[bytes] = asyncio.Queue()
        self.asked: list[str] = []
        self.url = ""

    async def __aenter__(self) -> Self:
        app = web.Application()
        app.router.add_route("*", "/mcp", self._answer)
        self._runner = web.AppRunner(app, shutdown_timeout=0.1)
        await self._runner.setup()
        await web.TCPSite(self._runner, "127.0.0.1", 0).start()
        self.url = f"http://127.0.0.1:{self._runner.addresses[0][1]}/mcp"
        return self

    async def __aexit__(self, *_: object) -> None:
        await self._runner.cleanup()

    async def _answer(self, request: web.Request) -> web.StreamResponse:
        if request.method == "GET":
            return await self._listen(request)
        if request.method != "POST":
            return web.Response(status=405)
        message = await request.json()
        self.asked.append(str(message.get("method")))
        steps = [one for step in self._script.steps(message) for one in repeated(step)]
        if any("silence" in step for step in steps):
            await asyncio.sleep(3600)
        if steps and "http" in steps[0]:
            return _as_told(steps[0]["http"])
        if self._wire == "sse":
            await self._give(steps, self._stream.put)
            return web.Response(status=202)
        if "id" not in message:
            return web.Response(status=202)
        if self._streams:
            return await self._streamed(request, steps)
        return await _whole(steps)

    async def _listen(self, request: web.Request) -> web.StreamResponse:
        """The stream that a client opens: of all answers, or of what is said unasked."""
        if self._wire != "sse" and not self._script.first:
            return web.Response(status=405)
        response = web.StreamResponse(headers=_EVENTS)
        await response.prepare(request)
        if self._wire == "sse":
            await response.write(b"event: endpoint\ndata: /mcp\n\n")
        await self._give(self._script.first, response.write)
        while True:
            await response.write(await self._stream.get())

    async def _streamed(self, request: web.Request, steps: list[Step]) -> web.StreamResponse:
        response = web.StreamResponse(headers=_EVENTS)
        await response.prepare(request)
        await self._give(steps, response.write)
        return response

    async def _give(self, steps: list[Step], write: Any) -> None:
        for step in steps:
            for one in repeated(step):
                if "wait" in one:
                    await asyncio.sleep(one["wait"])
                else:
                    body = _bytes(one).strip(b"\n")
                    await write(b"event: message\ndata: " + body + b"\n\n")


async def _whole(steps: list[Step]) -> web.Response:
    """One body: where a server says more than one thing, all of them, one after the other."""
    for step in steps:
        if "wait" in step:
            await asyncio.sleep(step["wait"])
    said = [_bytes(step) for step in steps if "wait" not in step]
    return web.Response(body=b"".join(said), content_type="application/json")


def _as_told(answer: Mapping[str, Any]) -> web.Response:
    body = answer.get("body", "")
    return web.Response(
        status=answer.get("status", 200),
        body=base64.b64decode(answer["base64"]) if "base64" in answer else body.encode(),
        headers=answer.get("headers"),
    )


def _bytes(step: Step) -> bytes:
    if "raw" in step:
        return step["raw"].encode("utf-8", "surrogatepass")
    if "base64" in step:
        return base64.b64decode(step["base64"])
    return json.dumps(step).encode() if "jsonrpc" in step else b""
