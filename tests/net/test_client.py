"""This module checks what the client puts on the wire, byte for byte, and what it brings back."""

from __future__ import annotations

from collections.abc import AsyncIterator

import pytest

from toolcrib.errors import InvalidRequest
from toolcrib.net.client import GuardedClient
from toolcrib.net.guard import EgressPolicy
from toolcrib.testing.replies import answer, echo, json_answer
from toolcrib.testing.upstream import RecordingUpstream

Client = GuardedClient
Upstream = RecordingUpstream


async def test_a_get_is_exactly_what_was_asked(client: Client, upstream: Upstream) -> None:
    """Path and query go out as written, headers in order, and nothing is added but the basics."""
    url = upstream.url("/a%2Fb/../%7E/x?q=a%20b&q=c|d&e=#fragment")
    response = await client.request("GET", url, headers={"X-One": "1", "x-two": "ü"})
    assert upstream.requests[0].raw == (
        b"GET /a%2Fb/../%7E/x?q=a%20b&q=c|d&e= HTTP/1.1\r\n"
        b"Host: " + upstream.place.encode() + b"\r\n"
        b"X-One: 1\r\n"
        b"x-two: \xc3\xbc\r\n"
        b"User-Agent: toolcrib\r\n"
        b"Accept: */*\r\n"
        b"Accept-Encoding: gzip, deflate\r\n"
        b"\r\n"
    )
    assert (response.status, response.body, response.truncated) == (200, b"ok", False)


async def test_a_post_has_its_body_and_length(client: Client, upstream: Upstream) -> None:
    """The body's bytes, its length and the caller's content type; repeated headers stay."""
    await client.request(
        "POST",
        upstream.url("/x"),
        headers=[("Content-Type", "application/json"), ("X-A", "1"), ("X-A", "2")],
        body=b'{"a": 1}',
    )
    request = upstream.requests[0]
    assert request.body == b'{"a": 1}'
    assert request.headers == (
        ("Host", upstream.place),
        ("Content-Type", "application/json"),
        ("X-A", "1"),
        ("X-A", "2"),
        ("User-Agent", "toolcrib"),
        ("Accept", "*/*"),
        ("Accept-Encoding", "gzip, deflate"),
        ("Content-Length", "8"),
    )


async def test_no_body_has_no_type(client: Client, upstream: Upstream) -> None:
    """A POST without a body says that its length is zero, and invents no content type."""
    await client.request("POST", upstream.url("/x"))
    assert upstream.requests[0].header("Content-Length") == "0"
    assert upstream.requests[0].header("Content-Type") is None


async def test_large_and_streamed_bodies_arrive_whole(client: Client, upstream: Upstream) -> None:
    """Three megabytes in one piece, pieces with a known length, and pieces without."""
    large = bytes(range(256)) * 12_000

    async def pieces() -> AsyncIterator[bytes]:
        for start in range(0, len(large), 100_000):
            yield large[start : start + 100_000]

    url = upstream.url("/x")
    await client.request("PUT", url, body=large)
    await client.request("PUT", url, body=pieces(), length=len(large))
    await client.request("PUT", url, body=pieces())
    assert [request.body == large for request in upstream.requests] == [True, True, True]
    lengths = [request.header("Content-Length") for request in upstream.requests]
    assert lengths == [str(len(large)), str(len(large)), None]
    assert upstream.requests[2].header("Transfer-Encoding") == "chunked"


async def test_any_status_is_an_answer(client: Client, upstream: Upstream) -> None:
    """404, 500 and an empty 204 come back as they are, with their headers."""
    upstream.reply("/404", json_answer({"error": "no"}, 404))
    upstream.reply("/500", answer(500, body=b"oops", headers=[("X-Trace", "t1")]))
    upstream.reply("/204", answer(204, body=b"", headers=[]))
    missing = await client.request("GET", upstream.url("/404"))
    broken = await client.request("GET", upstream.url("/500"))
    empty = await client.request("DELETE", upstream.url("/204"))
    assert (missing.status, missing.media_type, missing.ok) == (404, "application/json", False)
    assert (broken.status, broken.headers["x-trace"]) == (500, "t1")
    assert (empty.status, empty.body, empty.ok) == (204, b"", True)


async def test_a_head_has_no_body(client: Client, upstream: Upstream) -> None:
    """The length of what a GET would bring is no body to wait for."""
    upstream.reply("/x", answer(body=b"", headers=[("X-Y", "z")]))
    response = await client.request("HEAD", upstream.url("/x"))
    assert (response.status, response.body) == (200, b"")


async def test_bytes_come_back_exact(client: Client, upstream: Upstream) -> None:
    """What is no text stays what it is."""
    upstream.reply("/echo", echo())
    body = bytes(range(256)) * 300
    response = await client.request(
        "POST", upstream.url("/echo"), body=body, headers={"Content-Type": "image/png"}
    )
    assert (response.body, response.media_type) == (body, "image/png")


async def test_an_answer_is_read_up_to_the_limit(client: Client, upstream: Upstream) -> None:
    """One byte more than the limit is cut and said; exactly the limit is whole."""
    upstream.reply("/x", answer(body=b"0123456789"))
    whole = await client.request("GET", upstream.url("/x"), limit=10)
    cut = await client.request("GET", upstream.url("/x"), limit=9)
    assert (whole.body, whole.truncated) == (b"0123456789", False)
    assert (cut.body, cut.truncated) == (b"012345678", True)


async def test_cookies_are_never_kept(client: Client, upstream: Upstream) -> None:
    """One user's cookie does not ride with the next one's request."""
    upstream.reply("/in", answer(headers=[("Set-Cookie", "session=alice; Path=/")]))
    response = await client.request("GET", upstream.url("/in"))
    await client.request("GET", upstream.url("/x"))
    assert response.headers["Set-Cookie"] == "session=alice; Path=/"
    assert upstream.requests[1].header("Cookie") is None


async def test_the_environments_proxy_and_netrc_play_no_part(
    upstream: Upstream, monkeypatch: pytest.MonkeyPatch
) -> None:
    """HTTP_PROXY would otherwise send everything to somebody else."""
    for name in ("HTTP_PROXY", "http_proxy", "ALL_PROXY", "all_proxy"):
        monkeypatch.setenv(name, "http://127.0.0.1:9")
    monkeypatch.setenv("NO_PROXY", "")
    monkeypatch.setenv("no_proxy", "")
    async with GuardedClient(EgressPolicy([upstream.place])) as client:
        assert (await client.request("GET", upstream.url("/x"))).status == 200


@pytest.mark.parametrize(
    ("headers", "where"),
    [
        ({"X-A": "a\r\nX-B: b"}, "headers.X-A"),
        ({"X-A": "a\nb"}, "headers.X-A"),
        ({"X-A": "a\x00b"}, "headers.X-A"),
        ({"X-A\r\nX-B": "b"}, "headers"),
        ({"X A": "b"}, "headers"),
        ({"": "b"}, "headers"),
        ({"X-A: c\tX": "b"}, "headers"),
        ({"Host": "evil.test"}, "headers.Host"),
        ({"content-length": "5"}, "headers.content-length"),
        ({"Transfer-Encoding": "chunked"}, "headers.Transfer-Encoding"),
        ({"Connection": "close"}, "headers.Connection"),
        ({"Proxy-Authorization": "x"}, "headers.Proxy-Authorization"),
    ],
)
async def test_headers_cannot_break_the_request(
    client: Client, upstream: Upstream, headers: dict[str, str], where: str
) -> None:
    """Line breaks, odd names and headers of the connection itself are refused unsent."""
    with pytest.raises(InvalidRequest) as raised:
        await client.request("POST", upstream.url("/x"), headers=headers, body=b"x")
    assert raised.value.where == where
    assert upstream.connections == 0


@pytest.mark.parametrize("method", ["CONNECT", "TRACE", "get", "GET /x HTTP/1.1\r\n", ""])
async def test_methods_are_the_usual_ones(client: Client, upstream: Upstream, method: str) -> None:
    """A method that could be something else is refused unsent."""
    with pytest.raises(InvalidRequest, match="cannot be sent"):
        await client.request(method, upstream.url("/x"))
    assert upstream.connections == 0


async def test_a_closed_client_stays_closed(upstream: Upstream) -> None:
    """Using it afterwards is a mistake that shows at once."""
    client = GuardedClient(EgressPolicy([upstream.place]))
    await client.close()
    with pytest.raises(RuntimeError, match="closed"):
        await client.request("GET", upstream.url("/x"))
