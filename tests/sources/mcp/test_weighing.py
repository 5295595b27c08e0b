"""Answers that cost far more than their bytes, and streams that never get anywhere: each ends its
call with words that can be read, and nobody else waits."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator
from typing import Any

import httpx2
import pytest
from aiohttp import web

from tests.sources.mcp.conftest import Bench, both_ways
from tests.sources.mcp.test_lean import Answer, called, event, ignored, plainly, said, stream
from toolcrib.errors import SourceError, SourceProtocolError, SourceUnreachable
from toolcrib.sources.mcp import flood, resting
from toolcrib.sources.mcp.limits import MOST_IN_BATCH, MOST_VALUES
from toolcrib.sources.mcp.mended import Lines
from toolcrib.sources.mcp.mending import messages_of
from toolcrib.sources.mcp.reading import message_of
from toolcrib.sources.mcp.servers import HttpServer
from toolcrib.sources.mcp.weighing import TooMuch, values_in, weighed

MANY = MOST_VALUES + 10
SHAPES = {
    "numbers": b"[" + b"0," * MANY + b"0]",
    "objects": b"[" + b"{}," * MANY + b"{}]",
    "lists": b"[" + b"[]," * MANY + b"[]]",
    "texts": b"[" + b'"",' * MANY + b'""]',
    "members": b"{" + b'"a":"b",' * MANY + b'"a":1}',
    "escapes": b"[" + b'"\\"\\\\",' * MANY + b"0]",
    "depth": b"[" * MANY + b"]" * MANY,
}


@pytest.mark.parametrize("shape", list(SHAPES))
def test_too_many_values_are_counted_without_being_read(shape: str) -> None:
    with pytest.raises(TooMuch):
        weighed(SHAPES[shape])
    with pytest.raises(TooMuch):
        messages_of(SHAPES[shape])
    with pytest.raises(SourceError, match="values"):
        message_of(SHAPES[shape])


def test_what_is_text_is_no_value() -> None:
    text = ',[{"\\' * MANY
    assert values_in(json.dumps({"a": [text, {text: text}]}).encode()) < 10


def test_a_batch_has_so_many_messages_at_most() -> None:
    one = {"jsonrpc": "2.0", "method": "notifications/x"}
    assert len(messages_of(json.dumps([one] * MOST_IN_BATCH).encode())) == MOST_IN_BATCH
    with pytest.raises(TooMuch, match="batch"):
        messages_of(json.dumps([one] * (MOST_IN_BATCH + 1)).encode())
    assert len(messages_of(json.dumps([0, None, {}, []] * 1000 + [one]).encode())) == 1


def body(data: bytes, status: int = 200) -> Answer:
    async def answer(request: web.Request, message: dict[str, Any]) -> web.StreamResponse:
        if message["params"]["arguments"]:
            return await plainly(request, message)
        return web.Response(status=status, body=data, content_type="application/json")

    return answer


def events(*pieces: bytes) -> Answer:
    async def answer(request: web.Request, message: dict[str, Any]) -> web.StreamResponse:
        if message["params"]["arguments"]:
            return await plainly(request, message)
        return await stream(request, *pieces, event(said(message)))

    return answer


HALVES = [b"data: " + SHAPES["numbers"][: MANY + 1] + b"\n", b"data:0" + b",0" * MANY + b"]\n\n"]
HEAVY: dict[str, Answer] = {
    "body": body(SHAPES["numbers"]),
    "body at 500": body(SHAPES["lists"], 500),
    "event": events(b"data: " + SHAPES["objects"] + b"\n\n"),
}


@both_ways
@pytest.mark.parametrize("what", list(HEAVY))
async def test_an_answer_of_too_many_values(bench: Bench, what: str) -> None:
    """It fails its call with a reason; the next one is well."""
    async with called(bench, "modern", HEAVY[what]) as (_, upstream):
        output, call = await bench.call(upstream, "echo")
        assert output.error is not None
        assert f"more than {MOST_VALUES} values" in output.text
        assert call.exchange.sent is True
        assert (await bench.call(upstream, "echo", {"a": 1}))[0].text == "done"


@both_ways
async def test_an_event_of_several_heavy_lines(bench: Bench) -> None:
    """Its lines count together."""
    async with called(bench, "modern", events(*HALVES)) as (_, upstream):
        output, _ = await bench.call(upstream, "echo")
        assert output.error is not None


async def test_a_plain_answer_of_too_many_values(bench: Bench) -> None:
    async with called(bench, "modern", body(SHAPES["lists"])) as (server, _):
        upstream = await bench.upstream(HttpServer(url=server.url, wire="jsonrpc"), ref="mcp:2")
        with pytest.raises(SourceProtocolError, match="values"):
            await bench.call(upstream, "echo")


HUGE: dict[str, bytes] = {
    "a progress": b'{"jsonrpc":"2.0","method":"notifications/progress","params":'
    b'{"progressToken":1,"progress":1' + b"0" * 400 + b"}}",
    "a total": b'{"jsonrpc":"2.0","method":"notifications/progress","params":'
    b'{"progressToken":1,"progress":1,"total":1' + b"0" * 400 + b"}}",
}


@both_ways
@pytest.mark.parametrize("what", list(HUGE))
async def test_a_huge_number_beside_an_answer(bench: Bench, what: str) -> None:
    answer = events(b"data: " + HUGE[what] + b"\n\n")
    async with called(bench, "modern", answer) as (_, upstream):
        output, _ = await bench.call(upstream, "echo", progress=ignored)
        assert output.text == "done"


@both_ways
@pytest.mark.parametrize("digits", [1, 400, 4000, 5000])
async def test_a_time_that_nobody_can_wait(bench: Bench, digits: int) -> None:
    """The call ends by its own time, and no other than that is to be read."""

    async def answer(request: web.Request, message: dict[str, Any]) -> web.StreamResponse:
        return await stream(request, b"id: 1\nretry: " + b"9" * digits + b"\ndata:\n\n")

    async with called(bench, "modern", answer) as (server, upstream):
        server.again = answer
        with pytest.raises(SourceError) as caught:
            await bench.call(upstream, "echo", deadline=1.0)
        assert (caught.value.code, caught.value.sent) == ("timeout", True)


async def test_a_stream_that_goes_on_with_nothing_is_given_up(
    bench: Bench, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Its server would have it asked for again at once, for ever."""
    monkeypatch.setattr(resting, "FLOOR", 1)
    asked: list[str] = []

    async def answer(request: web.Request, _: dict[str, Any]) -> web.StreamResponse:
        asked.append(request.headers.get("Last-Event-ID", ""))
        return await stream(request, b"id: %d\nretry: 0\ndata:\n\n" % len(asked))

    async with called(bench, "modern", answer) as (server, upstream):
        server.again = answer
        with pytest.raises(SourceUnreachable) as caught:
            await bench.call(upstream, "echo", deadline=60.0)
        assert caught.value.sent is True
        assert asked == ["", *map(str, range(1, 21))]


def test_streams_that_bring_nothing_rest_longer_each_time() -> None:
    rests = resting.Rests()
    waits: list[float] = []
    for number in range(10):
        waits.append(rests.before(b"%d" % number))
        rests.over(b"%d" % number, b"%d" % (number + 1), told=False)
    assert waits == [0.0, 0.5, 1.0, 2.0, 4.0, 8.0, 16.0, 16.0, 16.0, 16.0]
    rests.over(b"10", b"11", told=True)
    assert rests.before(b"11") == rests.before(b"other") == 0.0


@pytest.mark.parametrize("text", ["retry: 0\n", "retry:0\r\n", "id: 1\rretry:0\rdata:\r\r"])
async def test_what_the_library_reads_names_no_time_too_soon(text: str) -> None:
    class Given(httpx2.AsyncByteStream):
        async def __aiter__(self) -> AsyncIterator[bytes]:
            for at in range(len(text)):
                yield text[at : at + 1].encode()

    lines = Lines(Given(), 1, lambda *_, **__: None)
    assert b"retry: 500" in b"".join([piece async for piece in lines])


async def test_a_flood_of_events_that_are_no_messages_ends_its_call(
    bench: Bench, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(flood.Flood.__init__, "__defaults__", (50,))
    async with called(bench, "modern", events(b"event: x\ndata: 1\n\n" * 100)) as (_, upstream):
        with pytest.raises(SourceProtocolError, match="more messages"):
            await bench.call(upstream, "echo")
