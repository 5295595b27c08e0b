"""This module checks that the guard holds on the event loop that the server runs on."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Coroutine
from pathlib import Path
from typing import Any

import pytest
import uvloop

from tests.net.certificates import Authority
from tests.net.speaking import Server, reply
from toolcrib.errors import EgressBlocked, SourceProtocolError, SourceTimeout, SourceUnreachable
from toolcrib.net.client import GuardedClient
from toolcrib.net.guard import EgressPolicy
from toolcrib.testing.replies import answer, drop, gzip_bomb, hang, in_turn
from toolcrib.testing.resolvers import ScriptedResolver
from toolcrib.testing.upstream import RecordingUpstream


def on_uvloop(story: Coroutine[Any, Any, None]) -> None:
    with asyncio.Runner(loop_factory=uvloop.new_event_loop) as runner:
        runner.run(story)


def test_pins_names_and_blocks_hold(tmp_path: Path) -> None:
    """The pinned address with the right name answers; a wrong name and a private host do not."""
    authority = Authority(tmp_path)
    hosts = {name: [["127.0.0.1"]] for name in ("good.test", "wrong.test", "inside.test")}

    async def story() -> None:
        async with RecordingUpstream(tls=authority.server("good.test")) as upstream:
            port = upstream.port
            policy = EgressPolicy([f"good.test:{port}", f"wrong.test:{port}"])
            tls = authority.client()
            resolver = ScriptedResolver(hosts)
            async with GuardedClient(policy, resolver=resolver, tls=tls) as client:
                response = await client.request("GET", f"https://good.test:{port}/")
                with pytest.raises(SourceUnreachable, match="certificate"):
                    await client.request("GET", f"https://wrong.test:{port}/")
                for host in ("inside.test", "127.0.0.1", "[::ffff:127.0.0.1]"):
                    with pytest.raises(EgressBlocked):
                        await client.request("GET", f"https://{host}:{port}/")
            assert (response.status, len(upstream.requests)) == (200, 1)

    on_uvloop(story())


def test_deadlines_caps_and_resends_hold() -> None:
    """Hanging, bombing and dropping upstreams end as they do on asyncio's own loop."""

    async def story() -> None:
        async with RecordingUpstream() as upstream:
            upstream.reply("/hang", hang())
            upstream.reply("/bomb", gzip_bomb(50_000_000))
            upstream.reply("/drop", in_turn(answer(), drop(), answer()))
            async with GuardedClient(EgressPolicy([upstream.place])) as client:
                with pytest.raises(SourceTimeout):
                    await client.request("GET", upstream.url("/hang"), timeout=0.3)
                bomb = await client.request("GET", upstream.url("/bomb"), limit=1000)
                await client.request("PUT", upstream.url("/drop"))
                with pytest.raises(SourceProtocolError):
                    await client.request("PUT", upstream.url("/drop"))
            assert (len(bomb.body), bomb.truncated) == (1000, True)
            assert [request.path for request in upstream.requests].count("/drop") == 2

    on_uvloop(story())


def test_strays_answer_nobody() -> None:
    """Bytes that the loop has not read are seen, whatever loop it is."""
    server = Server()

    async def story() -> None:
        async with GuardedClient(EgressPolicy([server.place])) as client:
            url = f"http://{server.place}/"
            bodies = [(await client.request("POST", url)).body]
            server.connections[0].sendall(reply(b"stray"))
            bodies += [(await client.request("POST", url)).body for _ in range(2)]
        assert bodies == [b"connection 1", b"connection 2", b"connection 2"]

    try:
        on_uvloop(story())
    finally:
        server.close()


@pytest.mark.parametrize("run", [on_uvloop, asyncio.run], ids=["uvloop", "asyncio"])
def test_tls_connections_are_kept(run: Callable[[Any], None], tmp_path: Path) -> None:
    """What TLS itself sends behind a handshake is nothing that nobody asked for."""
    authority = Authority(tmp_path)

    async def story() -> None:
        async with RecordingUpstream(tls=authority.server("good.test")) as upstream:
            resolver = ScriptedResolver({"good.test": [["127.0.0.1"]]})
            policy = EgressPolicy([f"good.test:{upstream.port}"])
            tls = authority.client()
            async with GuardedClient(policy, resolver=resolver, tls=tls) as client:
                for _ in range(20):
                    await client.request("POST", f"https://good.test:{upstream.port}/", body=b"x")
            assert (len(upstream.requests), upstream.connections) == (20, 1)

    run(story())
