"""An answer that is no message at all: said in our words, with no piece of what stood in it."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import pytest
from aiohttp import web

from tests.sources.mcp.conftest import Bench, both_ways
from toolcrib.sources.mcp.servers import HttpServer

SECRET = "".join(f"{number:04d}" for number in range(1000, 1030))
"""Longer than what a library shows of a value, and each piece of it is found only there."""
HELLO = {
    "protocolVersion": "2025-11-25",
    "capabilities": {"tools": {}},
    "serverInfo": {"name": "echoes", "version": "1"},
}
LIST = {"tools": [{"name": "echo", "inputSchema": {"type": "object"}}]}
Odd = Callable[[dict[str, Any], str], web.Response]


def plain(made: Callable[[Any, str], str]) -> Odd:
    return lambda asked, said: web.Response(
        text=made(asked["id"], said), content_type="application/json"
    )


def streamed(made: Callable[[Any, str], str]) -> Odd:
    return lambda asked, said: web.Response(
        text=f"event: message\ndata: {made(asked['id'], said)}\n\n",
        content_type="text/event-stream",
    )


def no_object(number: Any, said: str) -> str:
    return json.dumps({"jsonrpc": "2.0", "id": number, "result": 5, "said": said})


def no_message(number: Any, said: str) -> str:
    return json.dumps({"said": said})


def no_json(number: Any, said: str) -> str:
    return f'{{"jsonrpc": "2.0", "id": {number}, "result": {said}'


def text(number: Any, said: str) -> str:
    return json.dumps(said)


@both_ways
@pytest.mark.parametrize("way", [plain, streamed])
@pytest.mark.parametrize("made", [no_object, no_message, no_json, text])
@pytest.mark.parametrize("where", ["tools/list", "tools/call"])
async def test_no_piece_of_a_secret_is_shown(
    bench: Bench, way: Callable[[Any], Odd], made: Any, where: str
):
    async def serve(request: web.BaseRequest) -> web.StreamResponse:
        if request.method != "POST":
            return web.Response(status=405)
        asked = await request.json()
        if asked["method"] == where:
            return way(made)(asked, request.headers["X-Key"])
        if "id" not in asked:
            return web.Response(status=202)
        known = {"initialize": HELLO, "tools/list": LIST}
        if asked["method"] not in known:
            error = {"code": -32601, "message": "no"}
            return web.json_response({"jsonrpc": "2.0", "id": asked["id"], "error": error})
        result = known[asked["method"]]
        return web.json_response({"jsonrpc": "2.0", "id": asked["id"], "result": result})

    runner = web.ServerRunner(web.Server(serve))
    await runner.setup()
    site = web.TCPSite(runner, "127.0.0.1", 0)
    await site.start()
    try:
        upstream = await bench.upstream(
            HttpServer(
                url=f"http://127.0.0.1:{runner.addresses[0][1]}/mcp",
                wire="streamable",
                headers={"X-Key": SECRET},
                private=frozenset({SECRET}),
                timeout=60.0,
            )
        )
        state = await upstream.refresh()
        if where == "tools/call":
            assert state.status == "connected"
            output, _ = await bench.call(upstream, "echo", {})
            assert not output.success
            words = output.text
        else:
            assert state.error is not None
            words = state.error[1]
        pieces = {SECRET[at : at + 8] for at in range(len(SECRET) - 8)}
        assert [piece for piece in pieces if piece in words] == []
        assert "pydantic" not in words
        await bench.close()
    finally:
        await runner.cleanup()
