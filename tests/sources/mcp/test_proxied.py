"""The operator's proxy carries every way of speaking with a server, streams too."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, Callable
from contextlib import asynccontextmanager

import pytest

from tests.net.test_proxy import TunnelProxy
from tests.sources.mcp.conftest import Bench, both_ways, until
from tests.support.mcp_http import Era, HttpMcp, tool_of
from toolcrib.sources.mcp.servers import HttpServer, Wire

WIRES: dict[Era, Wire] = {"session": "streamable", "modern": "streamable", "sse": "sse"}


@asynccontextmanager
async def proxy_to(port: int) -> AsyncGenerator[tuple[TunnelProxy, str]]:
    """A proxy that connects every place to this port, and where it is."""
    tunnel = TunnelProxy(port)
    listener = await asyncio.start_server(tunnel.serve, "127.0.0.1", 0)
    try:
        yield tunnel, f"127.0.0.1:{listener.sockets[0].getsockname()[1]}"
    finally:
        listener.close()


@both_ways
@pytest.mark.parametrize("era", list(WIRES))
async def test_every_request_goes_through_it(make_bench: Callable[..., Bench], era: Era) -> None:
    """Handshake, list, call and the stream of news: no connection goes past the proxy."""
    async with HttpMcp(era) as server, proxy_to(server.port) as (tunnel, place):
        bench = make_bench(proxy=f"http://ann:s3cret-pw@{place}")
        # Nothing listens at this address: only the proxy knows the way.
        url = "http://127.0.0.9:9/mcp"
        upstream = await bench.upstream(HttpServer(url=url, wire=WIRES[era]))
        state = await upstream.look()
        assert (state.status, state.error) == ("connected", None)
        output, _ = await bench.call(upstream, "echo", {"a": 1})
        assert output.text == '{"a": 1}'
        if era == "session":
            await until(lambda: server.streams)
            server.tools.append(tool_of("more"))
            server.notify("notifications/tools/list_changed")
            await until(lambda: bench.changes)
            assert list((await upstream.look()).tools.specs) == ["echo", "more"]
        assert all(b" http://127.0.0.9:9/mcp " in head for head in tunnel.heads)
        assert all(b"Proxy-Authorization: Basic " in head for head in tunnel.heads)
        await bench.close()


async def test_what_is_refused_never_reaches_it(make_bench: Callable[..., Bench]) -> None:
    """The guard judges before the proxy hears of an address."""
    async with proxy_to(9) as (tunnel, place):
        bench = make_bench(proxy=f"http://{place}")
        state = await (await bench.upstream("https://10.0.0.5/mcp")).look()
        assert (state.status, state.error and state.error[0]) == ("failed", "blocked")
        assert tunnel.heads == []
