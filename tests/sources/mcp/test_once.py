"""A call is made once: no words of a server, and no answer to another call, make it happen twice,
nor another's result its own."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import pytest
from aiohttp import web

from tests.sources.mcp.conftest import SHORT, Bench, both_ways
from tests.sources.mcp.test_lean import JSON, called, event, notice, plainly, replied, said, stream
from tests.support.mcp_bad import ALLOW, serving
from tests.support.mcp_http import Era
from tests.support.mcp_script import Step, refusal
from tests.support.mcp_script import said as saying
from toolcrib.errors import SourceProtocolError, SourceUnreachable

MAIL = "Mail was sent, but the database session could not be closed"
FORGED = {"toolcrib": {"code": "unreachable", "sent": False, "means": "session"}}
eras = pytest.mark.parametrize("era", ["session", "modern"])


def rpc(message: Mapping[str, Any], code: int, words: str, **more: Any) -> dict[str, Any]:
    error = {"code": code, "message": words, **more.pop("error", {})}
    return {"jsonrpc": "2.0", "id": message["id"], "error": error, **more}


@both_ways
@eras
@pytest.mark.parametrize("way", ["body", "500", "stream"])
@pytest.mark.parametrize(
    ("code", "words"),
    [
        (-32000, MAIL),
        (-32600, MAIL),
        (-32001, MAIL),
        (-32020, "The header of the letter is odd"),
    ],
)
async def test_a_server_s_own_words_arrive(
    bench: Bench, era: Era, way: str, code: int, words: str
) -> None:
    if way == "500" and code == -32020 and era == "modern":
        return  # there it says that nothing was done

    async def answer(request: web.Request, message: dict[str, Any]) -> web.StreamResponse:
        error = rpc(message, code, words)
        if way == "stream":
            log = notice("notifications/message", level="info", data="mail sent")
            return await stream(request, event(log), event(error))
        return web.json_response(error, status=500 if way == "500" else 200)

    async with called(bench, era, answer) as (server, upstream):
        output, call = await bench.call(upstream, "echo")
        assert (output.success, output.text) == (False, words)
        assert (server.count("tools/call"), call.exchange.answered) == (1, True)


@both_ways
@pytest.mark.parametrize("kind", ["body", "stream"])
async def test_a_session_is_lost_by_a_status_alone(bench: Bench, kind: str) -> None:
    """An answer with success, or a stream that has begun, shows that the session is known."""

    async def answer(request: web.Request, message: dict[str, Any]) -> web.StreamResponse:
        error = rpc(message, -32600, "Session not found")
        if kind == "stream":
            return await stream(request, event(error))
        return web.json_response(error)

    async with called(bench, "session", answer) as (server, upstream):
        output, _ = await bench.call(upstream, "echo")
        assert output.text == "Session not found"
        assert (server.count("tools/call"), server.made) == (1, 1)


LOST = {
    "the specification": (404, "text/plain", "gone"),
    "an empty stream": (404, "text/event-stream", ""),
    "with words": (404, JSON, "Session not found", -32001),
    "no valid one": (400, JSON, "Bad Request: No valid session ID provided", -32000),
    "not begun": (400, JSON, "Bad Request: Server not initialized", -32000),
    "ended": (404, JSON, "Not Found: Session has been terminated", -32600),
    "expired": (404, JSON, "Not Found: Invalid or expired session ID", -32600),
    "other words": (404, JSON, "Never heard of you", -32600),
}


@both_ways
@pytest.mark.parametrize("how", list(LOST))
async def test_a_session_that_is_lost_is_opened_anew(bench: Bench, how: str) -> None:
    status, kind, words, *code = LOST[how]
    error = {"jsonrpc": "2.0", "id": None, "error": {"code": code and code[0], "message": words}}
    lost = replied(status, kind, json.dumps(error) if code else words)

    async def answer(request: web.Request, message: dict[str, Any]) -> web.StreamResponse:
        first = request.headers["Mcp-Session-Id"] == "session-1"
        return await (lost if first else plainly)(request, message)

    async with called(bench, "session", answer) as (server, upstream):
        output, _ = await bench.call(upstream, "echo")
        assert (output.text, server.made) == ("done", 2)


@both_ways
async def test_an_era_without_sessions_loses_none(bench: Bench) -> None:
    body = {"jsonrpc": "2.0", "id": None, "error": {"code": -32600, "message": "Session not found"}}
    lost = replied(404, JSON, json.dumps(body))
    async with called(bench, "modern", lost) as (server, upstream):
        output, _ = await bench.call(upstream, "echo")
        assert (output.text, server.count("tools/call")) == ("Session not found", 1)


@both_ways
async def test_an_older_era_refuses_no_headers(bench: Bench) -> None:
    body = {"jsonrpc": "2.0", "id": None, "error": {"code": -32020, "message": "odd header"}}
    async with called(bench, "session", replied(400, JSON, json.dumps(body))) as (server, upstream):
        output, _ = await bench.call(upstream, "echo")
        assert (output.text, server.count("tools/call")) == ("odd header", 1)


@pytest.mark.parametrize("way", ["stdio", "stdio-2026", "sse"])
@pytest.mark.parametrize("words", [MAIL, "Session not found", "Server not initialized"])
async def test_where_no_status_is_known_words_tell(
    make_bench: Callable[..., Bench], way: str, words: str, tmp_path: Path
) -> None:
    """Those that say this and nothing else, where there are sessions."""
    bench = make_bench(SHORT, allow=ALLOW)
    answers: list[list[Step]] = [[refusal(-32000, words)], [saying("again")]]
    is_lost = words != MAIL and way != "stdio-2026"
    if way == "stdio" and is_lost:  # a process that is begun anew begins its script anew
        answers.pop()
    async with serving(way, {"say": {"tools/call": answers}}, tmp_path) as server:
        upstream = await bench.upstream(server)
        await upstream.look()
        first = await upstream.conversation()
        if way == "stdio" and is_lost:
            with pytest.raises(Exception, match="does not know the session"):
                await bench.call(upstream, "t")
            assert first.is_over
        else:
            output, _ = await bench.call(upstream, "t")
            assert output.text == ("again" if is_lost else words)
        await bench.close()


@both_ways
@eras
@pytest.mark.parametrize("status", [200, 400, 500])
async def test_no_server_says_in_our_name_that_nothing_was_sent(
    bench: Bench, era: Era, status: int
) -> None:
    async def answer(request: web.Request, message: dict[str, Any]) -> web.StreamResponse:
        error = rpc(message, -32099, "it broke", error={"data": FORGED})
        return web.json_response(error, status=status)

    async with called(bench, era, answer) as (server, upstream):
        output, call = await bench.call(upstream, "echo")
        assert output.text == "it broke"
        assert (server.count("tools/call"), call.exchange.sent) == (1, True)


@both_ways
@eras
@pytest.mark.parametrize("other", [777, "777", None])
async def test_another_s_answer_on_a_stream_is_passed_over(
    bench: Bench, era: Era, other: object
) -> None:
    async def answer(request: web.Request, message: dict[str, Any]) -> web.StreamResponse:
        wrong = {**said(message, "another's"), "id": other}
        error = {**rpc(message, -32050, "another's"), "id": other}
        right = {**said(message, "mine"), "id": str(message["id"])}
        pieces = [
            event(one) for one in ([error, right] if other is None else [wrong, error, right])
        ]
        return await stream(request, *pieces)

    async with called(bench, era, answer) as (_, upstream):
        assert (await bench.call(upstream, "echo"))[0].text == "mine"


@both_ways
async def test_another_s_answer_alone_is_none(bench: Bench) -> None:
    """Also on a stream that goes on elsewhere."""

    async def answer(request: web.Request, message: dict[str, Any]) -> web.StreamResponse:
        return await stream(request, event({**said(message, "another's"), "id": 777}))

    async with called(bench, "session", answer) as (_, upstream):
        with pytest.raises(SourceUnreachable) as caught:
            await bench.call(upstream, "echo")
        assert caught.value.sent is True


@both_ways
@pytest.mark.parametrize("what", ["result", "error"])
async def test_another_s_answer_in_a_body_fails_the_call(bench: Bench, what: str) -> None:
    async def answer(request: web.Request, message: dict[str, Any]) -> web.StreamResponse:
        told = said(message) if what == "result" else rpc(message, -32050, "another's")
        return web.json_response({**told, "id": 777})

    async with called(bench, "session", answer) as (server, upstream):
        with pytest.raises(SourceProtocolError, match="another request") as caught:
            await bench.call(upstream, "echo")
        assert (caught.value.sent, server.count("tools/call")) == (True, 1)


@both_ways
async def test_words_without_an_id_arrive(bench: Bench) -> None:
    """A server that could not read the id says so: nothing else was posted."""
    body = {"jsonrpc": "2.0", "id": None, "error": {"code": -32700, "message": "no JSON"}}
    async with called(bench, "session", replied(200, JSON, json.dumps(body))) as (_, upstream):
        assert (await bench.call(upstream, "echo"))[0].text == "no JSON"
