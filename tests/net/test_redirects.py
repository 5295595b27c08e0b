"""This module checks what a redirect may do when a caller asks for it to be followed."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from tests.net.certificates import Authority
from toolcrib.errors import EgressBlocked, SourceProtocolError, SourceTimeout
from toolcrib.net.client import GuardedClient
from toolcrib.net.guard import EgressPolicy
from toolcrib.testing.replies import answer, hang, in_turn, redirect
from toolcrib.testing.resolvers import ScriptedResolver
from toolcrib.testing.upstream import RecordingUpstream


class SilentResolver:
    """A name server that never answers."""

    async def resolve(self, host: str, port: int) -> list[str]:
        return await asyncio.get_running_loop().create_future()

    async def close(self) -> None:
        """Nothing is open."""


Client = GuardedClient
Upstream = RecordingUpstream


@pytest.mark.parametrize(
    ("location", "target"),
    [
        ("/b?x=1", "/b?x=1"),
        ("b", "/a/b"),
        ("../b", "/b"),
        ("?x=1", "/a/start?x=1"),
        ("/b#part", "/b"),
        ("/ü", "/%C3%BC"),
    ],
)
async def test_relative_locations_are_followed(
    client: Client, upstream: Upstream, location: str, target: str
) -> None:
    """As a browser would resolve them; the answer says where it came from."""
    upstream.reply("/a/start", in_turn(redirect(location), answer()))
    response = await client.request("GET", upstream.url("/a/start"), follow_redirects=True)
    assert upstream.requests[1].target == target
    assert response.url == upstream.url(target)


@pytest.mark.parametrize(
    ("method", "status", "then", "body"),
    [
        ("POST", 301, "GET", b""),
        ("POST", 302, "GET", b""),
        ("POST", 303, "GET", b""),
        ("PUT", 303, "GET", b""),
        ("PUT", 302, "PUT", b"data"),
        ("POST", 307, "POST", b"data"),
        ("POST", 308, "POST", b"data"),
    ],
)
async def test_method_and_body_follow_the_rules(
    client: Client, upstream: Upstream, method: str, status: int, then: str, body: bytes
) -> None:
    """See-other becomes a GET without body and type; 307 and 308 repeat the request."""
    upstream.reply("/a", redirect("/b", status))
    await client.request(
        method,
        upstream.url("/a"),
        body=b"data",
        headers={"Content-Type": "text/x", "X-Kept": "1"},
        follow_redirects=True,
    )
    second = upstream.requests[1]
    assert (second.method, second.body, second.header("X-Kept")) == (then, body, "1")
    assert second.header("Content-Type") == ("text/x" if body else None)


async def test_a_streamed_body_is_not_repeated(client: Client, upstream: Upstream) -> None:
    """What was read once cannot be sent again; a half body never is."""

    async def pieces() -> AsyncIterator[bytes]:
        yield b"data"

    upstream.reply("/a", redirect("/b", 307))
    with pytest.raises(SourceProtocolError, match="cannot be sent again"):
        await client.request("POST", upstream.url("/a"), body=pieces(), follow_redirects=True)
    assert len(upstream.requests) == 1


async def test_a_loop_ends(client: Client, upstream: Upstream) -> None:
    """After five redirects the sixth is an error."""
    upstream.reply("/a", redirect("/a"))
    with pytest.raises(SourceProtocolError, match="redirects more than 5 times"):
        await client.request("GET", upstream.url("/a"), follow_redirects=True)
    assert len(upstream.requests) == 6


async def test_five_redirects_are_fine(client: Client, upstream: Upstream) -> None:
    """The fifth leads to the answer."""
    for number in range(5):
        upstream.reply(f"/{number}", redirect(f"/{number + 1}"))
    response = await client.request("GET", upstream.url("/0"), follow_redirects=True)
    assert (response.body, response.url) == (b"ok", upstream.url("/5"))


@pytest.mark.parametrize(
    ("headers", "credentials"),
    [({"X-Api-Key": "hunter2"}, True), ({"Authorization": "x"}, False), ({"Cookie": "a=b"}, False)],
)
async def test_credentials_stay_at_their_origin(
    client: Client, upstream: Upstream, headers: dict[str, str], credentials: bool
) -> None:
    """Another port is another origin: the request does not go there. The same origin is fine."""
    async with RecordingUpstream() as other:
        await client.change_policy(EgressPolicy([upstream.place, other.place]))
        upstream.reply("/same", redirect("/end"))
        upstream.reply("/other", redirect(other.url("/end")))

        async def call(path: str) -> int:
            response = await client.request(
                "GET",
                upstream.url(path),
                headers=headers,
                credentials=credentials,
                follow_redirects=True,
            )
            return response.status

        assert await call("/same") == 200
        with pytest.raises(EgressBlocked, match="with credentials does not follow") as raised:
            await call("/other")
        assert (raised.value.sent, other.connections) == (True, 0)
        assert "hunter2" not in str(raised.value)


async def test_without_credentials_another_origin_is_fine(
    client: Client, upstream: Upstream
) -> None:
    """Where the guard allows it too."""
    async with RecordingUpstream() as other:
        await client.change_policy(EgressPolicy([upstream.place, other.place]))
        upstream.reply("/other", redirect(other.url("/end")))
        response = await client.request("GET", upstream.url("/other"), follow_redirects=True)
        assert response.url == other.url("/end")


async def test_https_never_becomes_http(tmp_path: Path) -> None:
    """Not even where the operator allows http at the target."""
    authority = Authority(tmp_path)
    resolver = ScriptedResolver({"good.test": [["127.0.0.1"]]})
    async with (
        RecordingUpstream(tls=authority.server("good.test")) as secure,
        RecordingUpstream() as plain,
    ):
        secure.reply("/x", redirect(plain.url("/y")))
        policy = EgressPolicy([f"good.test:{secure.port}", plain.place])
        url = f"https://good.test:{secure.port}/x"
        tls = authority.client()
        async with GuardedClient(policy, resolver=resolver, tls=tls) as client:
            with pytest.raises(EgressBlocked, match="from https to http"):
                await client.request("GET", url, follow_redirects=True)
        assert (len(secure.requests), plain.connections) == (1, 0)


@pytest.mark.parametrize("location", ["http://[::1/", "https://user:pw@a.test/", "ftp://a.test/"])
async def test_odd_locations_are_refused(client: Client, upstream: Upstream, location: str) -> None:
    """What is no usable URL is an error, not a guess."""
    upstream.reply("/a", redirect(location))
    with pytest.raises((EgressBlocked, SourceProtocolError)):
        await client.request("GET", upstream.url("/a"), follow_redirects=True)


async def test_a_redirect_without_a_location_is_the_answer(
    client: Client, upstream: Upstream
) -> None:
    """So is 304."""
    upstream.reply("/a", answer(302, body=b"lost", headers=[]))
    upstream.reply("/b", answer(304, body=b"", headers=[]))
    first = await client.request("GET", upstream.url("/a"), follow_redirects=True)
    second = await client.request("GET", upstream.url("/b"), follow_redirects=True)
    assert (first.status, first.body, second.status) == (302, b"lost", 304)


async def test_one_deadline_covers_every_hop(client: Client, upstream: Upstream) -> None:
    """Redirects do not buy time."""
    upstream.reply("/a", redirect("/b"))
    upstream.reply("/b", hang())
    with pytest.raises(SourceTimeout) as raised:
        await client.request("GET", upstream.url("/a"), follow_redirects=True, timeout=5)
    assert raised.value.sent is True


async def test_a_hop_that_was_never_reached_does_not_hide_the_first(tmp_path: Path) -> None:
    """The first request was sent, so the whole was: a timeout while connecting says so."""
    async with RecordingUpstream() as upstream, RecordingUpstream() as other:
        policy = EgressPolicy([upstream.place, "slow.test"])
        upstream.reply("/a", redirect(f"http://slow.test:{other.port}/", 307))
        async with GuardedClient(policy, resolver=SilentResolver()) as client:
            with pytest.raises(SourceTimeout) as raised:
                await client.request(
                    "POST", upstream.url("/a"), body=b"x", follow_redirects=True, timeout=5
                )
        assert (raised.value.sent, other.connections) == (True, 0)
