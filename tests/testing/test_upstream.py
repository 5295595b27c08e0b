"""This module checks the recording upstream with a client that is nothing but a socket."""

from __future__ import annotations

import asyncio

from toolcrib.testing.replies import answer, in_turn
from toolcrib.testing.upstream import RecordingUpstream


async def talk(upstream: RecordingUpstream, *sent: bytes) -> bytes:
    """Write the pieces, read until the upstream ends the connection."""
    reader, writer = await asyncio.open_connection("127.0.0.1", upstream.port)
    for piece in sent:
        writer.write(piece)
        await writer.drain()
    answered = await reader.read()
    writer.close()
    await writer.wait_closed()
    return answered


async def test_every_byte_is_recorded() -> None:
    """Heads, bodies, odd spacing and repeated headers, one request after the other."""
    first = b"GET /a?x=%2f HTTP/1.1\r\nhOST:  b \r\nX-A: 1\r\nX-A: 2\r\n\r\n"
    second = b"POST /b HTTP/1.1\r\nHost: b\r\nContent-Length: 3\r\nConnection: close\r\n\r\nabc"
    async with RecordingUpstream() as upstream:
        await talk(upstream, first + second)
        one, two = upstream.requests
    assert (one.raw, two.raw) == (first, second)
    assert (one.method, one.target, one.path, one.query) == ("GET", "/a?x=%2f", "/a", "x=%2f")
    assert one.headers == (("hOST", "b"), ("X-A", "1"), ("X-A", "2"))
    assert (one.header("host"), one.header("x-a"), one.header("y")) == ("b", "1", None)
    assert (two.body, two.connection, upstream.connections) == (b"abc", 1, 1)


async def test_chunked_bodies_are_kept_both_ways() -> None:
    """`raw` has the framing, `body` has not."""
    head = b"PUT / HTTP/1.1\r\nTransfer-Encoding: chunked\r\nConnection: close\r\n\r\n"
    framed = b"3\r\nabc\r\n2;ext=1\r\nde\r\n0\r\n\r\n"
    async with RecordingUpstream() as upstream:
        await talk(upstream, head, framed)
    assert (upstream.requests[0].raw, upstream.requests[0].body) == (head + framed, b"abcde")


async def test_replies_are_chosen_by_path_and_in_turn() -> None:
    """Unknown paths answer ok; a list of replies is used up to its last one."""
    request = b"GET %s HTTP/1.1\r\nConnection: close\r\n\r\n"
    async with RecordingUpstream() as upstream:
        upstream.reply("/x", in_turn(answer(body=b"one"), answer(503, body=b"two")))
        answers = [await talk(upstream, request % path) for path in (b"/x", b"/x?q", b"/x", b"/y")]
    assert [text.split(b"\r\n\r\n")[1] for text in answers] == [b"one", b"two", b"two", b"ok"]
    assert answers[1].startswith(b"HTTP/1.1 503 Service Unavailable\r\n")


async def test_one_can_wait_for_a_request() -> None:
    """`received` returns when the request of that number has come."""
    async with RecordingUpstream() as upstream:
        waiting = asyncio.create_task(upstream.received(2))
        await talk(upstream, b"GET /1 HTTP/1.1\r\nConnection: close\r\n\r\n")
        assert not waiting.done()
        await talk(upstream, b"GET /2 HTTP/1.1\r\nConnection: close\r\n\r\n")
        assert (await waiting).target == "/2"
