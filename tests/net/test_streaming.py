"""Clients for streams: what they connect to, what they refuse, and how much they read."""

from __future__ import annotations

import gzip
from pathlib import Path

import httpx2
import pytest

from tests.net.certificates import Authority
from toolcrib.errors import EgressBlocked
from toolcrib.net import streaming
from toolcrib.net.guard import EgressPolicy, Guard
from toolcrib.net.streaming import BodyTooLarge, StreamingClients
from toolcrib.testing.replies import answer, redirect
from toolcrib.testing.resolvers import ScriptedResolver
from toolcrib.testing.upstream import RecordingUpstream


def clients(*allow: str, hosts: dict[str, list[list[str]]] | None = None) -> StreamingClients:
    return StreamingClients(Guard(EgressPolicy(allow), ScriptedResolver(hosts or {})))


async def test_allowed_place_is_reached(upstream: RecordingUpstream):
    """What the operator lists is connected to, with the client's headers and without encodings."""
    upstream.reply("/mcp", answer(body=b"hello"))
    async with clients(upstream.place).client({"X-Key": "k"}) as client:
        got = await client.get(upstream.url("/mcp"))
    assert got.content == b"hello"
    [request] = upstream.requests
    assert request.header("X-Key") == "k"
    assert request.header("Accept-Encoding") == "identity"


@pytest.mark.parametrize(
    "host", ["127.0.0.1", "[::ffff:127.0.0.1]", "localhost", "mixed.test", "2130706433", "127.1"]
)
async def test_private_place_is_refused(upstream: RecordingUpstream, host: str):
    """No spelling of loopback is connected to unless the operator lists it."""
    script = {"localhost": [["127.0.0.1"]], "mixed.test": [["93.184.216.34", "127.0.0.1"]]}
    port = upstream.place.rpartition(":")[2]
    async with clients(hosts=script).client() as client:
        with pytest.raises(EgressBlocked):
            await client.get(f"https://{host}:{port}/mcp")
    assert upstream.requests == []


async def test_second_lookup_is_judged_too(upstream: RecordingUpstream):
    """A name that answers a public address first and loopback later does not get through."""
    script = {"rebind.test": [["93.184.216.34"], ["127.0.0.1"]]}
    port = upstream.place.rpartition(":")[2]
    async with clients(hosts=script).client() as client:
        with pytest.raises(EgressBlocked):
            await client.get(f"https://rebind.test:{port}/")
    assert upstream.requests == []


async def test_redirect_is_not_followed(upstream: RecordingUpstream):
    """A redirect comes back as it is."""
    upstream.reply("/a", redirect("/b"))
    async with clients(upstream.place).client() as client:
        got = await client.get(upstream.url("/a"))
    assert (got.status_code, len(upstream.requests)) == (302, 1)


async def test_environment_has_no_say(upstream: RecordingUpstream, monkeypatch: pytest.MonkeyPatch):
    """Proxies of the environment are not used."""
    monkeypatch.setenv("HTTP_PROXY", "http://127.0.0.1:9")
    monkeypatch.setenv("ALL_PROXY", "http://127.0.0.1:9")
    upstream.reply("/", answer(body=b"direct"))
    async with clients(upstream.place).client() as client:
        assert (await client.get(upstream.url("/"))).content == b"direct"


async def test_decoded_size_is_what_counts(
    upstream: RecordingUpstream, monkeypatch: pytest.MonkeyPatch
):
    """A small compressed body that becomes a large one is not read to its end."""
    monkeypatch.setattr(streaming, "BODY_LIMIT", 1_000_000)
    bomb = gzip.compress(b"a" * 20_000_000)
    upstream.reply("/", answer(body=bomb, headers=[("Content-Encoding", "gzip")]))
    async with clients(upstream.place).client() as client:
        with pytest.raises(BodyTooLarge):
            await client.get(upstream.url("/"))


async def test_compressed_body_is_decoded(upstream: RecordingUpstream):
    """An upstream that compresses although it was asked not to is understood."""
    body = gzip.compress(b'{"a": 1}')
    upstream.reply("/", answer(body=body, headers=[("Content-Encoding", "gzip")]))
    async with clients(upstream.place).client() as client:
        assert (await client.get(upstream.url("/"))).json() == {"a": 1}


async def test_closed_port_is_a_connect_error():
    """Nobody there is httpx2's own error, of the kind that says nothing was sent."""
    async with clients("127.0.0.1:9").client() as client:
        with pytest.raises(httpx2.ConnectError):
            await client.get("http://127.0.0.1:9/")


async def test_certificate_is_checked_by_name(tmp_path: Path):
    """TLS verifies the URL's host although the address is pinned."""
    authority = Authority(tmp_path)
    async with RecordingUpstream(tls=authority.server("right.test")) as upstream:
        upstream.reply("/", answer(body=b"safe"))
        port = upstream.place.rpartition(":")[2]
        script = {"right.test": [["127.0.0.1"]], "wrong.test": [["127.0.0.1"]]}
        guard = Guard(EgressPolicy(["*.test"]), ScriptedResolver(script))
        made = StreamingClients(guard, tls=authority.client())
        async with made.client() as client:
            assert (await client.get(f"https://right.test:{port}/")).content == b"safe"
            with pytest.raises(httpx2.ConnectError, match="certificate"):
                await client.get(f"https://wrong.test:{port}/")
