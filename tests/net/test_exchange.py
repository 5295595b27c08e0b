"""The short way sends what aiohttp's session sends, and reads what it reads."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import suppress

import aiohttp
import pytest

from toolcrib.net import trip
from toolcrib.net.client import GuardedClient
from toolcrib.net.connections import open_session, trusted_tls
from toolcrib.net.exchange import Exchanges
from toolcrib.net.guard import EgressPolicy, Guard
from toolcrib.net.outgoing import outgoing
from toolcrib.net.resolver import ThreadedResolver
from toolcrib.testing.replies import answer
from toolcrib.testing.upstream import RecordedRequest, RecordingUpstream, Wire

ALL = ("GET", "HEAD", "OPTIONS", "POST", "PUT", "PATCH", "DELETE")
OWN = [("accept", "text/csv"), ("ACCEPT-ENCODING", "br"), ("content-type", "text/csv; x=ü")]


@pytest.fixture
async def session(upstream: RecordingUpstream) -> AsyncIterator[aiohttp.ClientSession]:
    """The session of a client that is allowed to that server."""
    resolver = ThreadedResolver()
    guard = Guard(EgressPolicy([upstream.place]), resolver)
    async with open_session(
        guard, proxy=None, tls=trusted_tls(), per_upstream=4, connect_timeout=10.0
    ) as session:
        yield session
    await resolver.close()


@pytest.mark.parametrize("body", [None, b"", b"{}", b"\0\r\n\r\n" * 10], ids=repr)
@pytest.mark.parametrize("headers", [[], [("X-A", "1"), ("X-A", "2")], OWN], ids=len)
@pytest.mark.parametrize("method", ALL)
async def test_the_bytes_are_those_of_the_session(
    upstream: RecordingUpstream,
    session: aiohttp.ClientSession,
    method: str,
    headers: list[tuple[str, str]],
    body: bytes | None,
) -> None:
    """Every method, with and without headers of its own and a body."""
    upstream.reply("/a%2Fb/", answer(204, body=b""))
    request = outgoing(method, headers, body, length=None, credentials=False)
    place, path = EgressPolicy([upstream.place]).check_url(upstream.url("/a%2Fb/?q=%20&r"))
    trip.current.set(trip.Trip(place, "GET"))
    theirs = await session.request(
        method,
        place.url(path),
        headers=request.headers,
        data=request.payload,
        skip_auto_headers=request.unwanted,
    )
    await theirs.read()
    ours = await Exchanges(session).send(request, place, path)
    assert (ours.status, ours.headers) == (theirs.status, theirs.headers)
    assert await ours.content.read() == await theirs.read()
    assert upstream.requests[1].raw == upstream.requests[0].raw
    assert upstream.requests[1].connection == upstream.requests[0].connection


async def test_what_comes_before_an_answer_is_no_answer(
    client: GuardedClient, upstream: RecordingUpstream
) -> None:
    """Early hints and a needless 100 are passed over."""

    async def hinting(_: RecordedRequest, wire: Wire) -> None:
        await wire.send(b"HTTP/1.1 103 Early Hints\r\nLink: </a.css>\r\n\r\n")
        await wire.send(b"HTTP/1.1 100 Continue\r\n\r\n")
        await wire.send(b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok")

    upstream.reply("/x", hinting)
    response = await client.request("POST", upstream.url("/x"), body=b"{}")
    assert (response.status, response.body) == (200, b"ok")


async def test_a_connection_that_left_http_is_not_kept(
    client: GuardedClient, upstream: RecordingUpstream
) -> None:
    """An upstream that switches protocols is an answer; nobody else gets its connection."""

    async def switching(_: RecordedRequest, wire: Wire) -> None:
        await wire.send(b"HTTP/1.1 101 Switching Protocols\r\nConnection: upgrade\r\n")
        await wire.send(b"Upgrade: other\r\n\r\nhello")

    upstream.reply("/x", switching)
    response = await client.request("GET", upstream.url("/x"))
    assert (response.status, response.body) == (101, b"")
    assert (await client.request("GET", upstream.url("/y"))).status == 200
    assert upstream.connections == 2


@pytest.mark.parametrize("size", [65_536, 65_537])
async def test_bodies_around_the_limit_arrive_whole(
    client: GuardedClient, upstream: RecordingUpstream, size: int
) -> None:
    """The largest body of the short way, and the smallest of the other."""
    body = bytes(size)
    await client.request("POST", upstream.url("/x"), body=body)
    request = upstream.requests[0]
    assert request.body == body
    assert request.header("Content-Length") == str(size)
    assert request.header("Content-Type") == "application/octet-stream"


async def test_an_answer_that_is_for_ever_coming_is_none(session: aiohttp.ClientSession) -> None:
    """A server that says so without end is broken off, and takes nobody's turn."""
    over = asyncio.Event()

    async def serve(_: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        with suppress(ConnectionError):
            while not writer.is_closing():
                writer.write(b"HTTP/1.1 100 Continue\r\n\r\n" * 100)
                await writer.drain()
        over.set()

    async with await asyncio.start_server(serve, "127.0.0.1", 0) as server:
        port = server.sockets[0].getsockname()[1]
        place, path = EgressPolicy([f"127.0.0.1:{port}"]).check_url(f"http://127.0.0.1:{port}/")
        trip.current.set(trip.Trip(place, "POST"))
        request = outgoing("POST", [], b"{}", length=None, credentials=False)
        with pytest.raises(aiohttp.ClientPayloadError):
            await Exchanges(session).send(request, place, path)
        await over.wait()
