"""What only the era of 2026 has: marked arguments in headers, and news that one must ask for."""

from __future__ import annotations

from typing import Any

import pytest
from mcp.server.lowlevel import Server
from mcp.server.subscriptions import InMemorySubscriptionBus, ListenHandler, ToolsListChanged
from mcp.shared.inbound import X_MCP_HEADER_KEY

from tests.sources.mcp.conftest import Bench, both_ways, until
from tests.support.listening import listening
from tests.support.mcp_http import HttpMcp
from toolcrib.errors import SourceError
from toolcrib.sources.mcp.servers import HttpServer


def marked(header: str | None) -> dict[str, Any]:
    """A tool whose `town` is to be repeated in a header of this name."""
    mark = {X_MCP_HEADER_KEY: header} if header else {}
    town = {"type": "string", **mark}
    return {"name": "echo", "inputSchema": {"type": "object", "properties": {"town": town}}}


@both_ways
async def test_marked_arguments_are_repeated_in_headers(bench: Bench) -> None:
    async with HttpMcp("modern") as server:
        server.tools = [marked("Town")]
        server.wants = {"town": "Mcp-Param-Town"}
        upstream = await bench.upstream(server.url)
        await upstream.look()
        output, _ = await bench.call(upstream, "echo", {"town": "Oslo"})
        assert output.text == '{"town": "Oslo"}'
        assert server.count("tools/call") == 1
        await bench.close()


@both_ways
@pytest.mark.parametrize("before", [None, "Place"])
async def test_a_server_that_marks_others_by_now_is_read_anew(
    bench: Bench, before: str | None
) -> None:
    """A call that is refused for its headers is made once more, with those that are wanted now."""
    async with HttpMcp("modern") as server:
        server.tools = [marked(before)]
        upstream = await bench.upstream(server.url)
        await upstream.look()
        server.tools = [marked("Town")]
        server.wants = {"town": "Mcp-Param-Town"}
        output, call = await bench.call(upstream, "echo", {"town": "Oslo"})
        assert (output.success, output.text) == (True, '{"town": "Oslo"}')
        assert (server.count("tools/call"), server.count("tools/list")) == (2, 2)
        assert call.exchange.answered is True
        await bench.close()


@both_ways
async def test_a_server_that_refuses_all_headers_is_asked_twice(bench: Bench) -> None:
    """Its own list does not say what it wants: that is an error, and nothing was done."""
    async with HttpMcp("modern") as server:
        server.tools = [marked(None)]
        server.wants = {"town": "Mcp-Param-Town"}
        upstream = await bench.upstream(server.url)
        await upstream.look()
        with pytest.raises(SourceError, match="refused the headers") as caught:
            await bench.call(upstream, "echo", {"town": "Oslo"})
        assert caught.value.sent is False
        assert server.count("tools/call") == 2
        await bench.close()


async def test_news_of_a_changed_list_are_asked_for(bench: Bench) -> None:
    """The list is read anew when the server says so, without a look and without a call."""
    names = ["one"]
    bus = InMemorySubscriptionBus()
    listening_now: list[object] = []

    async def tools(ctx: Any, params: Any) -> Any:
        listed = [{"name": name, "inputSchema": {"type": "object"}} for name in names]
        return {"tools": listed, "ttlMs": 0, "cacheScope": "private", "resultType": "complete"}

    handler = ListenHandler(bus)

    async def hear(ctx: Any, params: Any) -> Any:
        listening_now.append(params)
        return await handler(ctx, params)

    server = Server("made-up", version="1", on_list_tools=tools, on_subscriptions_listen=hear)
    async with listening(server.streamable_http_app()) as url:
        upstream = await bench.upstream(HttpServer(url=f"{url}/mcp"))
        assert list((await upstream.look()).tools.specs) == ["one"]
        names.append("two")
        await until(lambda: listening_now)
        while not bench.changes:
            await bus.publish(ToolsListChanged())
            await until_read(upstream, bench)
        assert list((await upstream.look()).tools.specs) == ["one", "two"]
        await bench.close()


async def until_read(upstream: Any, bench: Bench) -> None:
    """Give the news the time of a request to arrive."""
    await (await upstream.conversation()).page(None, 60.0)
