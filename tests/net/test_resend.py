"""This module proves that nothing that may change something is ever sent twice by itself."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator

import pytest

from tests.support.ports import quiet_port
from toolcrib.errors import InvalidRequest, SourceProtocolError, SourceTimeout, SourceUnreachable
from toolcrib.net.client import GuardedClient
from toolcrib.net.guard import EgressPolicy
from toolcrib.testing.replies import answer, drop, hang, in_turn
from toolcrib.testing.upstream import RecordedRequest, RecordingUpstream, Wire

UNSAFE = ["POST", "PUT", "PATCH", "DELETE"]


@pytest.mark.parametrize("method", UNSAFE)
@pytest.mark.parametrize("body", [None, b"{}"])
async def test_a_dropped_kept_connection_is_not_tried_again(
    client: GuardedClient, upstream: RecordingUpstream, method: str, body: bytes | None
) -> None:
    """The server has the request once, and the failure says that it was sent."""
    upstream.reply("/x", in_turn(answer(), drop(), answer()))
    await client.request(method, upstream.url("/x"), body=body)
    with pytest.raises(SourceProtocolError) as raised:
        await client.request(method, upstream.url("/x"), body=body)
    assert raised.value.sent is True
    assert raised.value.message == f"{upstream.place} closed the connection without an answer."
    assert [(request.method, request.connection) for request in upstream.requests] == [
        (method, 1),
        (method, 1),
    ]


@pytest.mark.parametrize("method", UNSAFE)
async def test_a_dropped_fresh_connection_is_not_tried_again(
    client: GuardedClient, upstream: RecordingUpstream, method: str
) -> None:
    """Nor where the connection was new."""
    upstream.reply("/x", in_turn(drop(), answer()))
    with pytest.raises(SourceProtocolError):
        await client.request(method, upstream.url("/x"), body=b"{}")
    assert (len(upstream.requests), upstream.connections) == (1, 1)


@pytest.mark.parametrize("method", ["GET", "HEAD", "OPTIONS"])
async def test_what_changes_nothing_is_tried_once_more(
    client: GuardedClient, upstream: RecordingUpstream, method: str
) -> None:
    """A safe request survives a server that closed a kept connection, once."""
    upstream.reply("/x", in_turn(drop(), answer(body=b"")))
    response = await client.request(method, upstream.url("/x"))
    assert (response.status, len(upstream.requests), upstream.connections) == (200, 2, 2)
    upstream.reply("/y", drop())
    with pytest.raises(SourceProtocolError):
        await client.request(method, upstream.url("/y"))
    assert len(upstream.requests) == 4


async def test_a_refused_connection_says_that_nothing_was_sent() -> None:
    """Where nobody listens, the same call may be made again."""
    async with RecordingUpstream(port=quiet_port()) as gone:
        url = gone.url("/")
    async with GuardedClient(EgressPolicy([gone.place])) as client:
        with pytest.raises(SourceUnreachable) as raised:
            await client.request("POST", url, body=b"{}")
    assert raised.value.sent is False
    assert raised.value.message == f"{gone.place} could not be reached: Connection refused."


async def test_a_timeout_says_whether_the_request_had_left(
    client: GuardedClient, upstream: RecordingUpstream
) -> None:
    """Waiting for an answer: sent. Waiting for the server's place in the queue: not sent."""
    upstream.reply("/x", hang())
    with pytest.raises(SourceTimeout) as raised:
        await client.request("POST", upstream.url("/x"), timeout=5)
    assert (raised.value.sent, len(upstream.requests)) == (True, 1)
    assert raised.value.message == f"{upstream.place} did not answer within 5 s."


async def test_a_full_pool_says_that_nothing_was_sent(upstream: RecordingUpstream) -> None:
    """Who waits for a free connection until the deadline has sent nothing; others are unharmed."""
    upstream.reply("/slow", hang())
    async with (
        RecordingUpstream() as other,
        GuardedClient(EgressPolicy([upstream.place, other.place]), per_upstream=1) as client,
    ):
        first = asyncio.create_task(client.request("POST", upstream.url("/slow"), timeout=100))
        await upstream.received()
        with pytest.raises(SourceTimeout) as raised:
            await client.request("POST", upstream.url("/x"), timeout=0.2)
        assert (raised.value.sent, len(upstream.requests)) == (False, 1)
        assert (await client.request("POST", other.url("/x"), timeout=60)).status == 200
        assert not first.done()
        first.cancel()


@pytest.mark.parametrize("error", [OSError("the disk broke"), InvalidRequest("too large")])
async def test_a_body_that_fails_half_way_says_why(
    client: GuardedClient, upstream: RecordingUpstream, error: Exception
) -> None:
    """The caller's own error comes out as it is, and no whole request arrives, once or twice."""

    async def pieces() -> AsyncIterator[bytes]:
        yield b"half"
        raise error

    with pytest.raises(type(error)) as raised:
        await client.request("PUT", upstream.url("/x"), body=pieces(), length=8, timeout=60)
    assert raised.value is error
    while not upstream.connections:  # noqa: ASYNC110  # the server may not have looked yet
        await asyncio.sleep(0.005)
    assert (upstream.requests, upstream.connections) == ([], 1)


async def test_bytes_that_nobody_asked_for_answer_nobody(
    client: GuardedClient, upstream: RecordingUpstream
) -> None:
    """A second answer on a kept connection is not taken for the next caller's."""
    asked_once = asyncio.Event()

    async def poison(request: RecordedRequest, wire: Wire) -> None:
        await answer(body=b"first")(request, wire)
        await asked_once.wait()
        await answer(body=b"poison")(request, wire)

    upstream.reply("/poison", poison)
    first = await client.request("POST", upstream.url("/poison"))
    asked_once.set()
    line = client._line
    assert line is not None
    async with asyncio.timeout(60):
        while not _has_unread(line._session.connector):  # noqa: ASYNC110  # a socket tells nobody
            await asyncio.sleep(0.005)
    second = await client.request("POST", upstream.url("/x"))
    assert (first.body, second.body) == (b"first", b"ok")
    assert [request.connection for request in upstream.requests] == [1, 2]


def _has_unread(connector: object) -> bool:
    kept = [protocol for queue in connector._conns.values() for protocol, _ in queue]  # type: ignore[attr-defined]
    return any(protocol.should_close for protocol in kept)


async def test_cancelling_a_call_closes_its_connection(
    client: GuardedClient, upstream: RecordingUpstream
) -> None:
    """The late answer of a call that was given up reaches no other call."""
    upstream.reply("/slow", hang())
    call = asyncio.create_task(client.request("GET", upstream.url("/slow")))
    await upstream.received()
    call.cancel()
    with pytest.raises(asyncio.CancelledError):
        await call
    await client.request("GET", upstream.url("/x"))
    assert [request.connection for request in upstream.requests] == [1, 2]
