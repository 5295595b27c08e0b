"""This module checks upstreams that hang, drip, flood, bomb, break off and lie.

Each ends as a readable answer or error within its deadline, with flat memory, and without harm to
other calls.
"""

from __future__ import annotations

import asyncio
import resource
import time
import tracemalloc

import pytest

from toolcrib.errors import SourceError, SourceProtocolError, SourceTimeout
from toolcrib.net.client import GuardedClient
from toolcrib.net.guard import EgressPolicy
from toolcrib.testing.replies import (
    answer,
    bad_chunks,
    close_early,
    drip,
    flood,
    gzip_bomb,
    hang,
    raw,
)
from toolcrib.testing.upstream import RecordingUpstream, Reply

MIB = 1024 * 1024


@pytest.mark.parametrize("reply", [hang(), drip(b"0123456789" * 10, every=0.05)])
async def test_the_deadline_ends_what_never_ends(
    client: GuardedClient, upstream: RecordingUpstream, reply: Reply
) -> None:
    """Silence and a drip of bytes both end at the deadline, not at the last byte."""
    upstream.reply("/x", reply)
    started = time.monotonic()
    with pytest.raises(SourceTimeout, match=r"did not answer within 0\.3 s"):
        await client.request("GET", upstream.url("/x"), timeout=0.3)
    assert 0.29 <= time.monotonic() - started < 60


@pytest.mark.parametrize(
    "reply",
    [
        flood(100 * MIB),
        flood(100 * MIB, declared=False),
        gzip_bomb(200 * MIB),
    ],
    ids=["100 MB", "100 MB of unknown length", "200 MB of gzip"],
)
async def test_memory_stays_flat(
    client: GuardedClient, upstream: RecordingUpstream, reply: Reply
) -> None:
    """The answer is the limit's bytes; what Python holds at the peak is a few times that."""
    upstream.reply("/x", reply)
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    tracemalloc.start()
    response = await client.request("GET", upstream.url("/x"), limit=MIB)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    grown = (resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before) / 1024
    assert (len(response.body), response.truncated) == (MIB, True)
    assert peak < 8 * MIB
    assert grown < 32


async def test_a_bomb_under_the_limit_is_the_whole_text(
    client: GuardedClient, upstream: RecordingUpstream
) -> None:
    """Decoded bytes are what is counted, not the compressed length."""
    upstream.reply("/x", gzip_bomb(MIB))
    whole = await client.request("GET", upstream.url("/x"), limit=MIB)
    cut = await client.request("GET", upstream.url("/x"), limit=MIB - 1)
    assert (len(whole.body), whole.truncated) == (MIB, False)
    assert (len(cut.body), cut.truncated) == (MIB - 1, True)


BROKEN = "sent an answer that ended early, or whose length or encoding is wrong."
NOT_HTTP = "sent an answer that is not valid HTTP."
OK = b"HTTP/1.1 200 OK\r\n"


@pytest.mark.parametrize(
    ("reply", "words"),
    [
        (close_early(b"half", promised=100), BROKEN),
        (raw(OK + b"Transfer-Encoding: chunked\r\n\r\n4\r\nhalf\r\n"), BROKEN),
        (raw(OK + b"Content-Encoding: gzip\r\nContent-Length: 4\r\n\r\nhalf"), BROKEN),
        (bad_chunks(), "sent an answer"),
        (raw(OK + b"Content-Encoding: br\r\nContent-Length: 4\r\n\r\nhalf"), "sent an answer"),
        (raw(OK + b"Content-Length: many\r\n\r\nhalf"), NOT_HTTP),
        (raw(OK + b"Content-Length: -1\r\n\r\nhalf"), NOT_HTTP),
        (raw(b"SSH-2.0-OpenSSH_9.6\r\n\r\n"), NOT_HTTP),
        (raw(b"HTTP/1.1 2000 OK\r\n\r\n"), NOT_HTTP),
        (raw(OK + b"X-Big: " + b"a" * 40_000 + b"\r\n\r\n"), NOT_HTTP),
        (raw(OK + b"X: y\r\n" * 500 + b"\r\n"), NOT_HTTP),
        (raw(b""), "closed the connection without an answer."),
        (raw(b"HTTP/1.1 20"), "closed the connection without an answer."),
    ],
)
async def test_broken_answers_are_told_in_words(
    client: GuardedClient, upstream: RecordingUpstream, reply: Reply, words: str
) -> None:
    """Wrong lengths, chunks, encodings and garbage: one error that names the upstream."""
    upstream.reply("/x", reply)
    with pytest.raises(SourceProtocolError) as raised:
        await client.request("POST", upstream.url("/x?key=hunter2"), timeout=60)
    assert raised.value.message.startswith(f"{upstream.place} {words}")
    assert raised.value.sent is True
    assert (await client.request("GET", upstream.url("/fine"))).body == b"ok"


async def test_more_bytes_than_promised_answer_nobody_else(
    client: GuardedClient, upstream: RecordingUpstream
) -> None:
    """What follows a too short length is thrown away with the connection."""
    upstream.reply("/x", raw(OK + b"Content-Length: 2\r\n\r\nok and then some", close=False))
    with pytest.raises(SourceProtocolError):
        await client.request("POST", upstream.url("/x"), timeout=60)
    assert (await client.request("POST", upstream.url("/fine"))).body == b"ok"
    assert [request.connection for request in upstream.requests] == [1, 2]


async def test_a_double_encoding_comes_back_as_it_is(
    client: GuardedClient, upstream: RecordingUpstream
) -> None:
    """What cannot be undone is bytes, and the header still says how it is encoded."""
    fields = [("Content-Encoding", "gzip, gzip")]
    upstream.reply("/x", answer(body=b"\x1f\x8bnot undone", headers=fields))
    response = await client.request("GET", upstream.url("/x"))
    assert response.body == b"\x1f\x8bnot undone"
    assert response.headers["Content-Encoding"] == "gzip, gzip"


async def test_an_upstream_that_speaks_first_is_not_asked(client: GuardedClient) -> None:
    """A server of another protocol greets before it is asked; the request is not sent to it."""

    async def greet(_: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        writer.write(b"220 mail.example.test ESMTP\r\n")
        await writer.drain()
        writer.close()

    server = await asyncio.start_server(greet, "127.0.0.1", 0)
    port = server.sockets[0].getsockname()[1]
    async with server, GuardedClient(EgressPolicy([f"127.0.0.1:{port}"])) as other:
        with pytest.raises(SourceError):
            await other.request("POST", f"http://127.0.0.1:{port}/", body=b"x", timeout=60)


async def test_one_bad_upstream_harms_no_other_call(
    client: GuardedClient, upstream: RecordingUpstream
) -> None:
    """Beside hanging, flooding and breaking calls, fifty good ones are all answered."""
    upstream.reply("/hang", hang())
    upstream.reply("/flood", flood(20 * MIB))
    upstream.reply("/early", close_early(b"x", promised=9))
    bad = [
        client.request("GET", upstream.url(path), timeout=2 if path == "/hang" else 60)
        for path in ("/hang", "/flood", "/early")
        for _ in range(3)
    ]
    good = [client.request("GET", upstream.url(f"/good/{n}"), timeout=60) for n in range(50)]
    results = await asyncio.gather(*bad, *good, return_exceptions=True)
    assert [isinstance(result, BaseException) for result in results[9:]] == [False] * 50
    kinds = [type(result).__name__ for result in results[:9]]
    assert kinds == ["SourceTimeout"] * 3 + ["Response"] * 3 + ["SourceProtocolError"] * 3
