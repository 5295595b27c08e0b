"""Calls over streamable HTTP, by the short way and by the protocol library's: one outcome."""

from __future__ import annotations

import asyncio
import datetime as dt
import json
from collections.abc import AsyncGenerator, Awaitable, Callable, Mapping
from contextlib import asynccontextmanager
from typing import Any

import pytest
from aiohttp import web

from tests.sources.mcp.conftest import Bench, both_ways, until
from tests.support.mcp_http import Era, HttpMcp, text, tool_of
from toolcrib.errors import SourceError, SourceProtocolError, SourceUnreachable
from toolcrib.sources.mcp import flood
from toolcrib.sources.mcp.servers import HttpServer
from toolcrib.sources.mcp.upstream import Upstream

Answer = Callable[[web.Request, dict[str, Any]], Awaitable[web.StreamResponse]]
ERAS = pytest.mark.parametrize("era", ["session", "modern"])


class Calls(HttpMcp):
    """Its calls, and what comes after a stream that broke off, are a test's own."""

    def __init__(self, era: Era, answer: Answer) -> None:
        super().__init__(era)
        self.answer = answer
        self.again: Answer | None = None
        self.bodies: list[bytes] = []
        self.cookie = ""

    def _add_more(self, app: web.Application) -> None:
        app.middlewares.append(self._own)  # type: ignore[arg-type]

    @web.middleware
    async def _own(self, request: web.Request, handler: Any) -> web.StreamResponse:
        if request.method == "GET" and "Last-Event-ID" in request.headers and self.again:
            return await self.again(request, {})
        message = await request.json() if request.method == "POST" else {}
        if message.get("method") == "tools/call":
            self.bodies.append(await request.read())
            self.asked.append(("tools/call", message["params"], request.headers))
            return await self.answer(request, message)
        if "method" not in message and request.method == "POST":
            self.asked.append(("answer", message, request.headers))
            return web.Response(status=202)
        response = await handler(request)
        if self.cookie and message.get("method") in {"initialize", "server/discover"}:
            response.headers["Set-Cookie"] = self.cookie
        return response

    @property
    def connections(self) -> int:
        """How many clients have not ended theirs."""
        known: Any = self._runner.server
        return sum(one.transport is not None for one in known.connections)


def said(message: Mapping[str, Any], words: str = "done") -> dict[str, Any]:
    result = {"resultType": "complete", **text(words)}
    return {"jsonrpc": "2.0", "id": message["id"], "result": result}


def notice(method: str, **params: Any) -> dict[str, Any]:
    return {"jsonrpc": "2.0", "method": method, "params": params}


def event(message: Any, *, number: str = "", end: str = "\n") -> bytes:
    named = [f"id: {number}"] if number else []
    data = json.dumps(message) if message else ""
    return end.join([*named, "event: message", f"data: {data}", "", ""]).encode()


async def stream(request: web.Request, *pieces: bytes) -> web.StreamResponse:
    response = web.StreamResponse(headers={"Content-Type": "text/event-stream"})
    await response.prepare(request)
    for piece in pieces:
        await response.write(piece)
    return response


async def plainly(request: web.Request, message: dict[str, Any]) -> web.StreamResponse:
    return web.json_response(said(message))


@asynccontextmanager
async def called(
    bench: Bench, era: Era, answer: Answer, **more: Any
) -> AsyncGenerator[tuple[Calls, Upstream]]:
    async with Calls(era, answer) as server:
        upstream = await bench.upstream(HttpServer(url=server.url, **more))
        await upstream.look()
        await shaken(server)
        yield server, upstream
        await bench.close()


async def shaken(server: HttpMcp) -> None:
    """The short way begins after the handshake's last message was answered."""
    if server.era == "session":
        await until(lambda: server.count("notifications/initialized") and server.streams)


# --- what is sent ---------------------------------------------------------------------------------


@ERAS
async def test_both_ways_send_the_same(make_bench: Callable[..., Bench], era: Era) -> None:
    """Headers and body, down to the bytes; only the number of the request is its own."""
    schema = {
        "type": "object",
        "properties": {"town": {"type": "string", "x-mcp-header": "Town"}, "n": {}},
    }
    sent: dict[bool, tuple[dict[str, str], bytes, dict[str, Any]]] = {}
    for lean in (True, False):
        bench = make_bench(lean=lean)
        headers = {"X-Key": "k", "Accept-Language": "nb"}
        async with called(bench, era, plainly, headers=headers) as (server, upstream):
            server.tools = [tool_of("é cho", inputSchema=schema)]
            await upstream.refresh()
            arguments = {"town": "Oslø", "n": [1.0, 2**70, None, "\U0001f600"]}
            done, call = await bench.call(upstream, "é cho", arguments, progress=ignored)
            assert (done.text, call.exchange.answered) == ("done", True)
            assert await used(bench, upstream) is lean
            _, params, given = server.asked[-1]
            number = json.loads(server.bodies[-1])["id"]
            assert params["_meta"]["progressToken"] == number
            body = server.bodies[-1].replace(b'"id":%d' % number, b'"id":0')
            body = body.replace(b'"progressToken":%d' % number, b'"progressToken":0')
            sent[lean] = (headers_of(given), body, params)
    assert sent[True] == sent[False]


def headers_of(given: Mapping[str, str]) -> dict[str, str]:
    unlike = {"host", "content-length"}  # ports and numbers differ
    return {name.lower(): value for name, value in given.items() if name.lower() not in unlike}


async def ignored(done: float, total: float | None, message: str | None) -> None:
    """Nobody is interested."""


async def used(bench: Bench, upstream: Upstream) -> bool:
    """Whether the short way is open."""
    talk: Any = await upstream.conversation()
    return talk._lean is not None


@both_ways
@ERAS
async def test_a_cookie_of_the_handshake_goes_with_calls(bench: Bench, era: Era) -> None:
    """A server behind a balancer is found again."""
    async with Calls(era, plainly) as server:
        server.cookie = "lane=7; Path=/"
        upstream = await bench.upstream(server.url)
        await upstream.look()
        await shaken(server)
        for _ in range(2):
            await bench.call(upstream, "echo")
            assert server.asked[-1][2].get("Cookie") == "lane=7"
        await bench.close()


@both_ways
async def test_a_cookie_of_a_call_goes_with_the_next(bench: Bench) -> None:
    async def answer(request: web.Request, message: dict[str, Any]) -> web.StreamResponse:
        return web.json_response(said(message), headers={"Set-Cookie": "lane=8; Path=/"})

    async with called(bench, "modern", answer) as (server, upstream):
        await bench.call(upstream, "echo")
        await bench.call(upstream, "echo")
        assert server.asked[-1][2].get("Cookie") == "lane=8"


@both_ways
async def test_dates_are_written_as_text(bench: Bench) -> None:
    """Values that are no JSON come from programs, and the library knows what to make of them."""
    async with called(bench, "modern", plainly) as (server, upstream):
        day = dt.date(2026, 7, 28)
        output, _ = await bench.call(upstream, "echo", {"day": day})
        assert output.text == "done"
        assert server.asked[-1][1]["arguments"] == {"day": "2026-07-28"}


async def test_what_cannot_be_written_is_not_sent(bench: Bench) -> None:
    async with called(bench, "modern", plainly) as (server, upstream):
        with pytest.raises(SourceError, match="JSON") as caught:
            await bench.call(upstream, "echo", {"n": float("nan")})
        assert (caught.value.sent, server.count("tools/call")) == (False, 0)
        assert (await bench.call(upstream, "echo"))[0].success


# --- what is heard beside the answer --------------------------------------------------------------


@both_ways
@ERAS
@pytest.mark.parametrize("end", ["\n", "\r\n"])
async def test_a_stream_tells_and_answers(bench: Bench, era: Era, end: str) -> None:
    """Progress and log lines reach the call, news of the list its reader; pieces may be any."""
    told: list[Any] = []

    async def answer(request: web.Request, message: dict[str, Any]) -> web.StreamResponse:
        token = message["params"]["_meta"]["progressToken"]
        whole = b": hello" + 2 * end.encode()
        for one in (
            notice("notifications/progress", progressToken=token, progress=1, total=2),
            notice("notifications/progress", progressToken="another's", progress=7),
            notice("notifications/message", level="info", data={"a": 1}, logger="made-up"),
            notice("notifications/tools/list_changed"),
            notice("notifications/progress", progressToken=str(token), progress=2.5, message="å"),
            said(message, "å" * 100),
        ):
            whole += event(one, end=end)
        return await stream(request, *(whole[at : at + 11] for at in range(0, len(whole), 11)))

    async def progress(done: float, total: float | None, message: str | None) -> None:
        told.append((done, total, message))

    async def log(level: str, data: Any, logger: str | None) -> None:
        told.append((level, data, logger))

    async with called(bench, era, answer) as (server, upstream):
        lists = server.count("tools/list")
        output, _ = await bench.call(upstream, "echo", progress=progress, log=log)
        assert output.text == "å" * 100
        await until(lambda: len(told) >= 3)
        assert (1.0, 2.0, None) in told
        assert (2.5, None, "å") in told
        assert ("info", {"a": 1}, "made-up") in told
        assert len(told) == 3
        await until(lambda: server.count("tools/list") > lists)


@both_ways
async def test_what_a_watcher_raises_ends_no_call(bench: Bench) -> None:
    async def answer(request: web.Request, message: dict[str, Any]) -> web.StreamResponse:
        token = message["params"]["_meta"]["progressToken"]
        told = [
            notice("notifications/progress", progressToken=token, progress=1),
            notice("notifications/message", level="info", data="x"),
        ]
        return await stream(request, *map(event, [*told, said(message)]))

    async def fail(*_: Any) -> None:
        raise ValueError("the watcher's own")

    async with called(bench, "session", answer) as (_, upstream):
        output, _ = await bench.call(upstream, "echo", progress=fail, log=fail)
        assert output.text == "done"


@both_ways
async def test_a_server_that_asks_in_the_middle_is_answered(bench: Bench) -> None:
    """Also where nobody can be asked: a ping is answered, a question to a person refused."""
    asked = asyncio.Event()

    async def answer(request: web.Request, message: dict[str, Any]) -> web.StreamResponse:
        ping = {"jsonrpc": "2.0", "id": "p", "method": "ping"}
        form = {"type": "object", "properties": {}}
        params = {"mode": "form", "message": "Which town?", "requestedSchema": form}
        question = {"jsonrpc": "2.0", "id": "q", "method": "elicitation/create", "params": params}
        response = await stream(request, event(ping), event(question))
        await until(lambda: server.count("answer") >= 2)
        asked.set()
        failed = {"content": [{"type": "text", "text": "no town"}], "isError": True}
        await response.write(event({"jsonrpc": "2.0", "id": message["id"], "result": failed}))
        return response

    async with called(bench, "session", answer) as (server, upstream):
        output, _ = await bench.call(upstream, "echo")
        assert asked.is_set()
        assert "nobody can be asked" in output.text
        answers = {m["id"]: set(m) for name, m, _ in server.asked if name == "answer"}
        assert ("result" in answers["p"], "error" in answers["q"]) == (True, True)


async def test_a_flood_ends_its_call_alone(bench: Bench, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(flood.Flood.__init__, "__defaults__", (50,))

    async def answer(request: web.Request, message: dict[str, Any]) -> web.StreamResponse:
        if message["params"]["arguments"]:
            return await plainly(request, message)
        token = message["params"]["_meta"]["progressToken"]
        one = event(notice("notifications/progress", progressToken=token, progress=1))
        return await stream(request, one * 100, event(said(message)))

    async with called(bench, "modern", answer) as (_, upstream):
        with pytest.raises(SourceProtocolError, match="more messages") as caught:
            await bench.call(upstream, "echo", progress=ignored)
        assert caught.value.sent is True
        assert (await bench.call(upstream, "echo", {"a": 1}))[0].text == "done"


# --- answers that are none ------------------------------------------------------------------------


def replied(status: int, kind: str = "text/plain", body: str = "no", **headers: str) -> Answer:
    async def answer(request: web.Request, message: dict[str, Any]) -> web.StreamResponse:
        told = {name.replace("_", "-"): value for name, value in headers.items()}
        return web.Response(status=status, content_type=kind, text=body, headers=told)

    return answer


def rpc(code: int, words: str, number: Any = None) -> str:
    return json.dumps({"jsonrpc": "2.0", "id": number, "error": {"code": code, "message": words}})


JSON = "application/json"
ODD: dict[str, tuple[Answer, str]] = {
    "202": (replied(202), "upstream_error"),
    "204": (replied(204), "upstream_error"),
    "a page": (replied(200, "text/html"), "upstream_error"),
    "401": (replied(401), "not_granted"),
    "403": (replied(403, JSON, "{}"), "not_granted"),
    "404": (replied(404), "upstream_error"),
    "429": (replied(429), "upstream_error"),
    "500": (replied(500), "upstream_error"),
    "500 of a stream": (replied(500, "text/event-stream"), "upstream_error"),
    "an error at 400": (replied(400, JSON, rpc(-32602, "bad arguments")), "invalid_arguments"),
    "an error at 500": (replied(500, JSON, rpc(-32000, "it broke")), "upstream_error"),
    "an error as text": (replied(400, "text/plain", rpc(-32602, "bad")), "upstream_error"),
    "a redirect to a page": (replied(302, Location="/login"), "upstream_error"),
    "no JSON": (replied(200, JSON, "{"), "upstream_error"),
    "an event that is no JSON": (
        replied(200, "text/event-stream", "data: {\n\n"),
        "upstream_error",
    ),
}


@both_ways
@pytest.mark.parametrize("what", list(ODD))
async def test_odd_answers_mean_the_same(bench: Bench, what: str) -> None:
    """Whichever way the call was made: an answer of the server, and nothing is unknown."""
    answer, code = ODD[what]
    async with called(bench, "modern", answer) as (server, upstream):
        output, call = await bench.call(upstream, "echo")
        assert output.error is not None
        assert output.error.code == code
        assert (call.exchange.sent, call.exchange.answered) == (True, True)
        assert call.exchange.failing is (what == "500")
        assert server.count("tools/call") == 1


@both_ways
@pytest.mark.parametrize("kind", ["text/plain", JSON])
async def test_a_lost_session_is_opened_anew(bench: Bench, kind: str) -> None:
    """With or without words of the protocol's own."""
    lost = replied(404, kind, rpc(-32600, "Session not found") if kind == JSON else "gone")

    async def answer(request: web.Request, message: dict[str, Any]) -> web.StreamResponse:
        first = request.headers["Mcp-Session-Id"] == "session-1"
        return await (lost if first else plainly)(request, message)

    async with called(bench, "session", answer) as (server, upstream):
        output, _ = await bench.call(upstream, "echo")
        assert (output.text, server.made) == ("done", 2)


@both_ways
async def test_a_server_that_moved_is_followed(bench: Bench) -> None:
    """Within its origin, by a redirect that keeps the method."""

    async def answer(request: web.Request, message: dict[str, Any]) -> web.StreamResponse:
        if not request.query:
            return web.Response(status=308, headers={"Location": "/mcp?here"})
        return await plainly(request, message)

    async with called(bench, "modern", answer) as (server, upstream):
        for _ in range(2):
            assert (await bench.call(upstream, "echo"))[0].text == "done"
        assert all(name == "echo" for _, params, _ in server.asked if (name := params.get("name")))


@pytest.mark.parametrize("number", [999_999, "x", None])
async def test_another_request_s_answer_is_none(bench: Bench, number: Any) -> None:
    """It is not waited on: there will be no other."""

    async def answer(request: web.Request, message: dict[str, Any]) -> web.StreamResponse:
        return web.json_response({**said(message), "id": number})

    async with called(bench, "modern", answer) as (_, upstream):
        if number is None:
            output, _ = await bench.call(upstream, "echo")
            assert output.error is not None
            return
        with pytest.raises(SourceProtocolError) as caught:
            await bench.call(upstream, "echo")
        assert caught.value.sent is True


@both_ways
async def test_a_number_may_come_back_as_text(bench: Bench) -> None:
    async def answer(request: web.Request, message: dict[str, Any]) -> web.StreamResponse:
        return web.json_response({**said(message), "id": str(message["id"])})

    async with called(bench, "modern", answer) as (_, upstream):
        assert (await bench.call(upstream, "echo"))[0].text == "done"


# --- streams that break off -----------------------------------------------------------------------


@both_ways
@ERAS
async def test_a_stream_that_ends_without_an_answer(bench: Bench, era: Era) -> None:
    """Nobody can tell what became of the call, and it is not made again."""

    async def answer(request: web.Request, message: dict[str, Any]) -> web.StreamResponse:
        return await stream(request, b": nothing\n\n")

    async with called(bench, era, answer) as (server, upstream):
        with pytest.raises(SourceUnreachable) as caught:
            await bench.call(upstream, "echo")
        assert (caught.value.sent, server.count("tools/call")) == (True, 1)


@both_ways
@ERAS
async def test_a_stream_that_can_go_on_goes_on(bench: Bench, era: Era) -> None:
    """From its last event, after the time that the server names; also more than once."""
    asked: list[str] = []
    waiting: list[dict[str, Any]] = []

    async def answer(request: web.Request, message: dict[str, Any]) -> web.StreamResponse:
        waiting.append(message)
        return await stream(request, b"retry: 10\n", event(None, number="7"))

    async def again(request: web.Request, _: dict[str, Any]) -> web.StreamResponse:
        asked.append(request.headers["Last-Event-ID"])
        if len(asked) == 1:
            return await stream(request, event(notice("notifications/x"), number="8"))
        if len(asked) == 2:
            return web.Response(status=503)
        return await stream(request, event(said(waiting[0], "late"), number="9"))

    async with called(bench, era, answer) as (server, upstream):
        server.again = again
        output, _ = await bench.call(upstream, "echo")
        assert output.text == "late"
        assert asked == ["7", "8", "8"]
        assert server.count("tools/call") == 1


@both_ways
async def test_a_stream_that_cannot_go_on_is_given_up(bench: Bench) -> None:
    async def answer(request: web.Request, message: dict[str, Any]) -> web.StreamResponse:
        return await stream(request, b"retry: 10\n", event(None, number="7"))

    async def again(request: web.Request, _: dict[str, Any]) -> web.StreamResponse:
        return web.Response(status=405)

    async with called(bench, "session", answer) as (server, upstream):
        server.again = again
        with pytest.raises(SourceUnreachable) as caught:
            await bench.call(upstream, "echo")
        assert caught.value.sent is True


@both_ways
@ERAS
@pytest.mark.parametrize("kind", [JSON, "text/event-stream"])
async def test_a_connection_that_breaks_in_the_middle(bench: Bench, era: Era, kind: str) -> None:
    """Of the answer: the call may have been made. Its neighbours and the next live."""
    gate = asyncio.Event()

    async def answer(request: web.Request, message: dict[str, Any]) -> web.StreamResponse:
        match message["params"]["arguments"]:
            case {"slow": _}:
                await gate.wait()
            case {"break": _}:
                response = web.StreamResponse(headers={"Content-Type": kind})
                await response.prepare(request)
                await response.write(b'data: {"jsonrpc"' if "event" in kind else b'{"jsonrpc"')
                assert request.transport is not None
                request.transport.abort()
                return response
        return await plainly(request, message)

    async with called(bench, era, answer) as (server, upstream):
        slow = asyncio.create_task(bench.call(upstream, "echo", {"slow": 1}))
        await until(lambda: server.count("tools/call"))
        with pytest.raises(SourceUnreachable) as caught:
            await bench.call(upstream, "echo", {"break": 1})
        assert caught.value.sent is True
        gate.set()
        assert (await slow)[0].text == "done"
        assert (await bench.call(upstream, "echo"))[0].text == "done"
        assert server.count("tools/call") == 3


# --- calls that are given up ----------------------------------------------------------------------


@both_ways
@ERAS
@pytest.mark.parametrize("streams", [True, False], ids=["stream", "body"])
@pytest.mark.parametrize("how", ["cancelled", "late"])
async def test_a_call_that_is_given_up(bench: Bench, era: Era, how: str, streams: bool) -> None:
    """The server hears of it, each era in its way, and no task stays behind."""
    ended = asyncio.Event()

    async def answer(request: web.Request, message: dict[str, Any]) -> web.StreamResponse:
        response = await stream(request, b": wait\n\n") if streams else None
        try:
            await until(lambda: server.count("notifications/cancelled"))
        finally:
            ended.set()
        return web.json_response(said(message)) if response is None else response

    async with called(bench, era, answer) as (server, upstream):
        before = asyncio.all_tasks()
        deadline = 0.3 if how == "late" else 60.0
        call = asyncio.create_task(bench.call(upstream, "echo", deadline=deadline))
        await until(lambda: server.count("tools/call"))
        if how == "cancelled":
            call.cancel()
            with pytest.raises(asyncio.CancelledError):
                await call
        else:
            with pytest.raises(SourceError) as caught:
                await call
            assert (caught.value.code, caught.value.sent) == ("timeout", True)
        if era == "session":
            await until(lambda: server.count("notifications/cancelled"))
            [told] = [p for name, p, _ in server.asked if name == "notifications/cancelled"]
            assert told["requestId"] == json.loads(server.bodies[0])["id"]
        else:
            await until(lambda: server.connections <= 1)
            assert server.count("notifications/cancelled") == 0
        await until(lambda: not ours(before))


def ours(before: set[asyncio.Task[Any]]) -> int:
    """Tasks that were not there before; the server's own for its connections do not count."""
    found = asyncio.all_tasks() - before
    return sum("RequestHandler" not in repr(task.get_coro()) for task in found)


async def test_connections_are_used_again(bench: Bench) -> None:
    """Also after an answer in a stream, which the server ends a moment later."""

    async def answer(request: web.Request, message: dict[str, Any]) -> web.StreamResponse:
        if message["params"]["arguments"]:
            return await stream(request, event(said(message)))
        return await plainly(request, message)

    async with called(bench, "modern", answer) as (server, upstream):
        places = set()
        real = server.answer

        async def noted(request: web.Request, message: dict[str, Any]) -> web.StreamResponse:
            assert request.transport is not None
            places.add(request.transport.get_extra_info("peername"))
            return await real(request, message)

        server.answer = noted
        for number in range(6):
            arguments = {"stream": 1} if number % 2 else {}
            assert (await bench.call(upstream, "echo", arguments))[0].text == "done"
        assert len(places) == 1


@both_ways
@ERAS
async def test_the_end_of_a_conversation_ends_its_calls(bench: Bench, era: Era) -> None:
    async def answer(request: web.Request, message: dict[str, Any]) -> web.StreamResponse:
        await asyncio.Event().wait()
        raise AssertionError

    async with called(bench, era, answer) as (server, upstream):
        call = asyncio.create_task(bench.call(upstream, "echo", deadline=60.0))
        await until(lambda: server.count("tools/call"))
        async with asyncio.timeout(30):
            await bench.pool.close()
            with pytest.raises(SourceUnreachable) as caught:
                await call
        assert caught.value.sent is True


@both_ways
async def test_a_login_is_renewed_once(bench: Bench) -> None:
    """A token that the server refuses is renewed, and one that stays refused is an answer."""
    good = {"second"}

    async def answer(request: web.Request, message: dict[str, Any]) -> web.StreamResponse:
        if request.headers["Authorization"].removeprefix("Bearer ") in good:
            return await plainly(request, message)
        return web.Response(status=401)

    login: Any = Login()
    async with called(bench, "modern", answer, auth=login) as (server, upstream):
        assert (await bench.call(upstream, "echo"))[0].text == "done"
        tokens = [headers["Authorization"] for _, _, headers in server.asked[-2:]]
        assert tokens == ["Bearer first", "Bearer second"]
        good.clear()
        output, _ = await bench.call(upstream, "echo")
        assert output.error is not None
        assert output.error.code == "not_granted"


class Login:
    """A login whose token is renewed once."""

    made = "now"
    private: frozenset[str] = frozenset()
    current = "first"

    async def token(self, *, stale: str | None = None) -> str:
        if stale == "first":
            self.current = "second"
        return self.current

    async def refusal(self, status: int, challenges: object) -> None:
        """No other login would help."""
