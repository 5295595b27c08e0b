"""Faults of servers, each over every way of speaking: what one way bears, all of them bear."""

from __future__ import annotations

import asyncio
import json
import sys
from collections.abc import AsyncGenerator, Callable, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from tests.sources.mcp.conftest import SHORT, Bench, both_ways
from tests.support.mcp_http import Era, HttpMcp, tool_of
from toolcrib.sources.mcp.results import WARNINGS
from toolcrib.sources.mcp.servers import HttpServer, Server, StdioServer, Wire
from toolcrib.sources.mcp.upstream import State

SERVER = Path(__file__).parents[2] / "support" / "mcp_stdio.py"
ALLOW = (Path(sys.executable).name, "/nonexistent/made-up-server")
WIRES: dict[Era, Wire] = {
    "session": "streamable",
    "modern": "streamable",
    "sse": "sse",
    "plain": "jsonrpc",
}
Pages = Mapping[str, Mapping[str, Any]]
every_way = pytest.mark.parametrize("way", ["stdio", *WIRES])


def started(behaviour: Mapping[str, Any]) -> StdioServer:
    return StdioServer(command=sys.executable, args=(str(SERVER), json.dumps(behaviour)), env={})


@asynccontextmanager
async def serving(
    way: Any, pages: Pages, results: Sequence[Mapping[str, Any]] = ()
) -> AsyncGenerator[Server]:
    """A server that lists these pages; its calls give these results, one after the other."""
    if way == "stdio":
        yield started({"pages": pages, "results": results})
        return
    left = list(results)

    async def answer(_: Mapping[str, Any]) -> Mapping[str, Any]:
        return left.pop(0)

    async with HttpMcp(way) as server:
        server.pages = pages
        server.answers = {
            tool["name"]: answer
            for page in pages.values()
            for tool in page["tools"]
            if isinstance(tool, dict) and isinstance(tool.get("name"), str)
        }
        yield HttpServer(url=server.url, wire=WIRES[way])


def page(*names: str, then: str | None = None) -> dict[str, Any]:
    more = {} if then is None else {"nextCursor": then}
    return {"tools": [tool_of(name) for name in names], **more}


@pytest.fixture
def bench(make_bench: Callable[..., Bench]) -> Bench:
    return make_bench(allow=ALLOW)


@every_way
async def test_all_pages_are_read(bench: Bench, way: str) -> None:
    """Empty pages are passed over, what comes twice is kept once; an empty cursor ends the list."""
    pages = {
        "": page("t0", "t1", "t2", then="c1"),
        "c1": page("t3", "t0", then="c2"),
        "c2": page(then="c3"),
        "c3": page("t4", then=""),
    }
    async with serving(way, pages) as server:
        state = await (await bench.upstream(server)).look()
        assert list(state.tools.specs) == ["t0", "t1", "t2", "t3", "t4"]
        assert (state.error, state.tools.warnings) == (None, [])
        await bench.close()


@every_way
async def test_a_list_without_end_is_ended(bench: Bench, way: str) -> None:
    """What was listed until then stays, with a warning."""
    pages = {"": page("a", then="same"), "same": page("a", then="same")}
    async with serving(way, pages) as server:
        state = await (await bench.upstream(server)).look()
        assert (state.status, list(state.tools.specs)) == ("connected", ["a"])
        assert state.tools.warnings == [
            "its list of tools repeats a cursor, so the list ends there"
        ]
        await bench.close()


@every_way
async def test_malformed_tools_are_left_out_alone(bench: Bench, way: str) -> None:
    """No tool of a server costs the others."""
    raw = [
        tool_of("ok1"),
        {"inputSchema": {}},
        {"name": 5},
        {"name": "ok3", "inputSchema": "oops"},
        None,
        tool_of("ok2"),
    ]
    async with serving(way, {"": {"tools": raw}}) as server:
        state = await (await bench.upstream(server)).look()
        assert list(state.tools.specs) == ["ok1", "ok2"]
        skipped = [skip.ref for skip in state.tools.skipped]
        assert skipped == ["number 2", "number 3", "ok3", "number 5"]
        await bench.close()


RESULTS: list[dict[str, Any]] = [
    {
        "content": [{"type": "text", "text": '{"ids":["a"]}', "annotations": {"priority": 1}}],
        "structuredContent": {"ids": ["a"]},
        "_meta": {"k": 1},
    },
    {"content": [{"type": "text", "text": "no structure"}]},
    {"content": [{"type": "text", "text": '{"ids":null}'}], "structuredContent": {"ids": None}},
    {"content": [{"type": "text", "text": "quota"}], "isError": True},
    {"content": [], "structuredContent": {"ids": []}},
]


@both_ways
@every_way
async def test_results_come_through_and_misfits_are_warnings(bench: Bench, way: str) -> None:
    """Structure, metadata, annotations and isError; what does not fit its schema is kept."""
    ids = {"type": "array", "items": {"type": "string"}}
    schema = {"type": "object", "properties": {"ids": ids}, "required": ["ids"]}
    pages = {"": {"tools": [tool_of("ds", outputSchema=schema)]}}
    async with serving(way, pages, RESULTS) as server:
        upstream = await bench.upstream(server)
        await upstream.look()
        got = [(await bench.call(upstream, "ds"))[0] for _ in RESULTS]
        await bench.close()
    assert [[part.as_json() for part in one.parts] for one in got] == [
        result["content"] for result in RESULTS
    ]
    assert [one.structured for one in got] == [
        result.get("structuredContent") for result in RESULTS
    ]
    assert [one.success for one in got] == [True, True, True, False, True]
    assert [WARNINGS in one.meta for one in got] == [False, True, True, False, False]
    assert got[0].meta["k"] == 1


async def test_each_server_has_its_own_time_and_reason(make_bench: Callable[..., Bench]) -> None:
    """Of many at once the bad ones fail alone; nobody waits for those that take their time."""
    bench = make_bench(replace(SHORT, opening=10.0), allow=ALLOW)
    async with HttpMcp("session") as hung, HttpMcp("session") as html, HttpMcp("session") as good:
        hung.hang = True
        html.html = True
        servers: dict[str, Server] = {
            "good": HttpServer(url=good.url),
            "no command": StdioServer(command="/nonexistent/made-up-server", args=(), env={}),
            "refused": HttpServer(url="http://127.0.0.1:9/mcp"),
            "hung": HttpServer(url=hung.url),
            "a page": HttpServer(url=html.url),
            "dies": started({"exit_before": 3, "say": "missing API key"}),
            "silent": started({"never_initialize": True}),
        }
        upstreams = {name: await bench.upstream(one, ref=name) for name, one in servers.items()}
        states: dict[str, State] = {}

        async def look(name: str) -> None:
            states[name] = await upstreams[name].look()

        await asyncio.gather(*map(look, upstreams))
        await bench.close()
    assert set(list(states)[-2:]) == {"hung", "silent"}
    assert {name: (one.status, one.error and one.error[0]) for name, one in states.items()} == {
        "good": ("connected", None),
        "no command": ("failed", "unreachable"),
        "refused": ("failed", "unreachable"),
        "hung": ("failed", "timeout"),
        "a page": ("failed", "upstream_error"),
        "dies": ("failed", "unreachable"),
        "silent": ("failed", "timeout"),
    }
