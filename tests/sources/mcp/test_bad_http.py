"""Servers whose HTTP is odd: a call fails alone, says whether it may have arrived, and the next one
is well."""

from __future__ import annotations

import gzip
from base64 import b64encode
from collections.abc import Callable, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from tests.sources.mcp.conftest import SHORT, Bench, until
from tests.sources.mcp.test_bad_messages import failures
from tests.support.mcp_bad import HTTP, serving
from tests.support.mcp_script import Step, listed, notice, refusal, said, tool
from toolcrib.errors import SourceError
from toolcrib.net.streaming import BODY_LIMIT

every_way = pytest.mark.parametrize("way", HTTP)
JSON = {"Content-Type": "application/json"}
STREAM = {"Content-Type": "text/event-stream"}


@pytest.fixture
def bench(make_bench: Callable[..., Bench]) -> Bench:
    return make_bench(replace(SHORT, opening=60.0, listing=60.0, patience=60.0))


def http(status: int = 200, body: str = "", **headers: str) -> Step:
    named = {name.replace("_", "-"): value for name, value in headers.items()}
    return {"http": {"status": status, "body": body, "headers": named}}


def packed(size: int) -> Step:
    body = b64encode(gzip.compress(b" " * size)).decode()
    return {"http": {"base64": body, "headers": {**JSON, "Content-Encoding": "gzip"}}}


ODD: Mapping[str, Step] = {
    "nothing": http(200, Content_Type="application/json"),
    "nothing at all": http(204),
    "only accepted": http(202),
    "of no type": http(200, "{}"),
    "a page": http(200, "<html>login</html>", Content_Type="text/html"),
    "text": http(200, "ok", Content_Type="text/plain"),
    "half a body": http(200, '{"jsonrpc": "2.0", "id": 1, "resu', Content_Type="application/json"),
    "no JSON": http(200, "ok", Content_Type="application/json"),
    "a list": http(200, "[]", Content_Type="application/json"),
    "an empty stream": http(200, "", Content_Type="text/event-stream"),
    "a stream of comments": http(200, ": hi\n\n: ho\n\n", Content_Type="text/event-stream"),
    "a stream of no message": http(200, "data: hi\n\n", Content_Type="text/event-stream"),
    "elsewhere": http(302, Location="http://127.0.0.1:9/mcp"),
    "elsewhere for ever": http(301, Location="/mcp"),
    "nowhere": http(302),
    "wants a login": http(401, WWW_Authenticate="Bearer"),
    "forbidden": http(403, "no"),
    "gone": http(410, "gone"),
    "too many": http(429, "slow down", Retry_After="3600"),
    "broken": http(500, "<html>oops</html>", Content_Type="text/html"),
    "broken with words": http(500, '{"error": "oops"}', Content_Type="application/json"),
    "away": http(503),
    "not packed": http(200, "plain", Content_Type="application/json", Content_Encoding="gzip"),
    "packed too well": packed(BODY_LIMIT + 1024),
}


@every_way
async def test_an_odd_answer_fails_its_call_alone(bench: Bench, way: str, tmp_path: Path) -> None:
    assert await failures(bench, way, ODD, tmp_path) == dict.fromkeys(ODD, True)


@every_way
@pytest.mark.parametrize("odd", ["a page", "no JSON", "an empty stream", "broken", "away"])
@pytest.mark.parametrize("where", ["server/discover", "initialize", "tools/list"])
async def test_a_server_that_cannot_be_listed_says_why(
    bench: Bench, way: str, odd: str, where: str, tmp_path: Path
) -> None:
    """In few words, and without its own markup where it is no MCP server at all."""
    if where == "initialize" and way.endswith("-2026"):
        return  # it is not asked there
    script = {"say": {where: [[ODD[odd]]]}}
    async with serving(way, script, tmp_path) as server:
        state = await (await bench.upstream(server)).look()
        await bench.close()
    if where == "server/discover" and way in {"http", "stream"}:
        assert state.status == "connected"  # who does not know the newer era is of the older one
        return
    assert state.error is not None
    assert "<html" not in state.error[1]
    assert state.brief.startswith("the server ")


async def test_news_without_end_hold_up_nobody(bench: Bench, tmp_path: Path) -> None:
    """The list is read again and again, calls are answered meanwhile."""
    news: Step = {"times": 3000, "step": notice("notifications/tools/list_changed")}
    script: dict[str, Any] = {"first": [news], "say": {"tools/list": [[listed(tool("t"))]]}}
    async with serving("http", script, tmp_path) as server:
        upstream = await bench.upstream(server)
        await upstream.look()
        for number in range(20):
            assert (await bench.call(upstream, "t", {"n": number}))[0].success
        await bench.close()


@every_way
@pytest.mark.parametrize("code", [-32601, -32602])
async def test_a_tool_that_is_gone_is_looked_for(
    bench: Bench, way: str, code: int, tmp_path: Path
) -> None:
    """A server that changes its tools in the middle of a session is listed again."""
    say = {
        "tools/list": [[listed(tool("t"))], [listed(tool("other"))]],
        "tools/call": [[refusal(code, "Unknown tool: t")]],
    }
    async with serving(way, {"say": say}, tmp_path) as server:
        upstream = await bench.upstream(server)
        await upstream.look()
        output, _ = await bench.call(upstream, "t")
        assert not output.success
        await until(lambda: list(upstream.state.tools.specs) == ["other"])
        await bench.close()


async def test_a_call_that_hangs_ends_by_its_time(bench: Bench, tmp_path: Path) -> None:
    """And one beside it is answered."""
    script = {"say": {"tools/call": [[{"silence": True}], [said("right")]]}}
    for way in HTTP:
        async with serving(way, script, tmp_path) as server:
            upstream = await bench.upstream(server, ref=way)
            await upstream.look()
            with pytest.raises(SourceError) as caught:
                await bench.call(upstream, "t", deadline=0.5)
            assert caught.value.sent is not False
            assert (await bench.call(upstream, "t"))[0].text == "right"
            await bench.pool.forget(way)
    await bench.close()
