"""This module proves that what the guard refuses is refused before a byte is sent.

Every test has a real server that listens where the request would have gone, and counts.
"""

from __future__ import annotations

import asyncio
import socket

import aiohttp
import pytest

from toolcrib.errors import EgressBlocked
from toolcrib.net import trip
from toolcrib.net.client import GuardedClient
from toolcrib.net.connections import open_session, trusted_tls
from toolcrib.net.guard import EgressPolicy, Guard
from toolcrib.net.urls import destination
from toolcrib.testing.replies import redirect
from toolcrib.testing.resolvers import ScriptedResolver
from toolcrib.testing.upstream import RecordingUpstream

FORMS = [
    "127.0.0.1",
    "127.0.0.1.",
    "127.0.0.2",
    "127.1",
    "127.0.1",
    "2130706433",
    "0x7f000001",
    "0x7f.0.0.1",
    "0177.0.0.1",
    "0",
    "0.0.0.0",  # noqa: S104  # an address to refuse, not to bind
    "①②⑦.⓪.⓪.①",
    "１２７.０.０.１",
    "127。0。0。1",
    "[::ffff:127.0.0.1]",
    "[::ffff:7f00:1]",
    "[0:0:0:0:0:ffff:127.0.0.1]",
    "[::127.0.0.1]",
    "[64:ff9b::7f00:1]",
    "[2002:7f00:1::]",
    "localhost",
    "LOCALHOST.",
    "loopback.test",
    "mixed.test",
    "mapped.test",
    "user@127.0.0.1",
    "8.8.8.8@127.0.0.1",
    "8.8.8.8\\@127.0.0.1",
    "127.0.0.1\\.8.8.8.8",
    "127.0.0.1%2f.example.com",
]

SCRIPT = {
    "localhost": [["127.0.0.1"]],
    "loopback.test": [["127.0.0.1"]],
    "mixed.test": [["93.184.216.34", "127.0.0.1"]],
    "mapped.test": [["::ffff:127.0.0.1"]],
}


@pytest.mark.parametrize("scheme", ["http", "https"])
@pytest.mark.parametrize("form", FORMS)
async def test_no_way_of_writing_loopback_reaches_it(form: str, scheme: str) -> None:
    """Decimal, octal, hex, short, full-width, mapped, tunnelled, named: nothing arrives."""
    async with RecordingUpstream() as upstream:
        resolver = ScriptedResolver(SCRIPT)
        async with GuardedClient(EgressPolicy(), resolver=resolver) as client:
            with pytest.raises(EgressBlocked) as raised:
                await client.request("GET", f"{scheme}://{form}:{upstream.port}/secret")
        assert (raised.value.sent, upstream.connections) == (False, 0)


@pytest.mark.parametrize("form", ["[::1]", "[0:0:0:0:0:0:0:1]", "[::]", "six.test"])
async def test_no_way_of_writing_ipv6_loopback_reaches_it(form: str) -> None:
    """The same for a server that listens at ::1."""
    async with RecordingUpstream(host="::1") as upstream:
        resolver = ScriptedResolver({"six.test": [["::1"]]})
        async with GuardedClient(EgressPolicy(), resolver=resolver) as client:
            with pytest.raises(EgressBlocked):
                await client.request("GET", f"https://{form}:{upstream.port}/")
        assert upstream.connections == 0


@pytest.mark.parametrize("scheme", ["ftp", "ws", "wss", "tcp", "file", "gopher", "unix", "httpx"])
async def test_other_schemes_reach_nothing(scheme: str) -> None:
    """Not even a host that the operator lists."""
    async with RecordingUpstream() as upstream:
        async with GuardedClient(EgressPolicy([upstream.place])) as client:
            with pytest.raises(EgressBlocked, match="only https is"):
                await client.request("GET", f"{scheme}://{upstream.place}/")
        assert upstream.connections == 0


async def test_allowing_one_port_allows_no_other() -> None:
    """The neighbour of an allowed service stays out of reach, by name and by address."""
    async with RecordingUpstream() as allowed, RecordingUpstream() as neighbour:
        policy = EgressPolicy([allowed.place, f"svc.test:{allowed.port}"])
        resolver = ScriptedResolver({"svc.test": [["127.0.0.1"]]})
        async with GuardedClient(policy, resolver=resolver) as client:
            assert (await client.request("GET", allowed.url("/"))).status == 200
            assert (await client.request("GET", f"http://svc.test:{allowed.port}/")).status == 200
            for url in (neighbour.url("/"), f"http://svc.test:{neighbour.port}/"):
                with pytest.raises(EgressBlocked):
                    await client.request("GET", url)
        assert (allowed.connections, neighbour.connections) == (2, 0)


async def test_a_name_cannot_borrow_anothers_permission() -> None:
    """A host that resolves to where an allowed host lives is still refused."""
    async with RecordingUpstream() as upstream:
        policy = EgressPolicy([f"good.test:{upstream.port}"])
        answers = {"good.test": [["127.0.0.1"]], "evil.test": [["127.0.0.1"]]}
        async with GuardedClient(policy, resolver=ScriptedResolver(answers)) as client:
            await client.request("GET", f"http://good.test:{upstream.port}/")
            with pytest.raises(EgressBlocked):
                await client.request("GET", f"https://evil.test:{upstream.port}/")
        assert [request.header("Host") for request in upstream.requests] == [
            f"good.test:{upstream.port}"
        ]


async def test_rebinding_between_two_connections_is_caught() -> None:
    """A good answer first, a bad one later: the new connection is judged by the new answer."""
    async with (
        RecordingUpstream(host="127.0.0.1") as good,
        RecordingUpstream(host="127.0.0.2", port=good.port) as bad,
    ):
        answers = {"rebind.test": [["127.0.0.1"], ["127.0.0.2"]]}
        resolver = ScriptedResolver(answers)
        policy = EgressPolicy(["127.0.0.1"])
        url = f"http://rebind.test:{good.port}/"
        async with GuardedClient(policy, resolver=resolver) as client:
            await client.request("GET", url)
            await client.request("GET", url)
            await client.change_policy(policy)
            with pytest.raises(EgressBlocked, match="a loopback address"):
                await client.request("GET", url)
        assert (len(good.requests), good.connections, bad.connections) == (2, 1, 0)
        assert resolver.asked == ["rebind.test", "rebind.test"]


async def test_the_judged_answer_is_the_one_that_is_connected_to() -> None:
    """One question per new connection: there is no second lookup that could answer otherwise."""
    async with RecordingUpstream() as upstream:
        answers = {"rebind.test": [["127.0.0.1"], ["10.255.255.1"]]}
        resolver = ScriptedResolver(answers)
        async with GuardedClient(EgressPolicy(["127.0.0.1"]), resolver=resolver) as client:
            response = await client.request("GET", f"http://rebind.test:{upstream.port}/")
        assert (response.status, resolver.asked) == (200, ["rebind.test"])


async def test_kept_connections_do_not_resolve_again() -> None:
    """Ten requests in a row share one connection and one question."""
    async with RecordingUpstream() as upstream:
        resolver = ScriptedResolver({"svc.test": [["127.0.0.1"]]})
        policy = EgressPolicy([f"svc.test:{upstream.port}"])
        async with GuardedClient(policy, resolver=resolver) as client:
            for _ in range(10):
                await client.request("GET", f"http://svc.test:{upstream.port}/")
        assert (len(upstream.requests), upstream.connections) == (10, 1)
        assert resolver.asked == ["svc.test"]


async def test_every_new_connection_asks_anew() -> None:
    """Connections that open side by side are judged one by one; nothing is remembered for them."""
    async with RecordingUpstream() as upstream:
        resolver = ScriptedResolver({"svc.test": [["127.0.0.1"]] * 3 + [["10.255.255.1"]]})
        async with GuardedClient(EgressPolicy(["127.0.0.1"]), resolver=resolver) as client:
            url = f"http://svc.test:{upstream.port}/"
            calls = [client.request("POST", url, body=b"x") for _ in range(4)]
            results = await asyncio.gather(*calls, return_exceptions=True)
        kinds = [type(result).__name__ for result in results]
        assert (kinds.count("Response"), kinds.count("EgressBlocked")) == (3, 1)
        assert (upstream.connections, len(resolver.asked)) == (3, 4)


async def test_a_narrower_policy_closes_open_connections() -> None:
    """What was allowed a moment ago is refused at once, kept connection or not."""
    async with RecordingUpstream() as upstream:
        async with GuardedClient(EgressPolicy([upstream.place])) as client:
            await client.request("GET", upstream.url("/"))
            await client.change_policy(EgressPolicy())
            with pytest.raises(EgressBlocked):
                await client.request("GET", upstream.url("/"))
        assert len(upstream.requests) == 1


async def test_a_redirect_to_a_private_host_is_not_followed_unasked() -> None:
    """Without being asked, a 3xx is the answer and nothing else is connected to."""
    async with RecordingUpstream() as upstream, RecordingUpstream() as inside:
        upstream.reply("/", redirect(inside.url("/secret")))
        async with GuardedClient(EgressPolicy([upstream.place])) as client:
            response = await client.request("GET", upstream.url("/"))
        assert (response.status, inside.connections) == (302, 0)


@pytest.mark.parametrize("status", [301, 302, 303, 307, 308])
@pytest.mark.parametrize(
    "form", ["127.0.0.1", "[::ffff:127.0.0.1]", "2130706433", "①②⑦.⓪.⓪.①", "inside.test"]
)
async def test_no_hop_reaches_a_private_host(form: str, status: int) -> None:
    """Every kind of redirect is judged like a first request, on the first hop and on the second."""
    async with RecordingUpstream() as upstream, RecordingUpstream() as inside:
        target = f"http://{form}:{inside.port}/secret"
        upstream.reply("/one", redirect(target, status))
        upstream.reply("/two", redirect("/one", status))
        resolver = ScriptedResolver({"inside.test": [["127.0.0.1"]]})
        async with GuardedClient(EgressPolicy([upstream.place]), resolver=resolver) as client:
            for path in ("/one", "/two"):
                with pytest.raises(EgressBlocked) as raised:
                    await client.request("GET", upstream.url(path), follow_redirects=True)
                assert raised.value.sent is True
        assert inside.connections == 0


@pytest.mark.parametrize("form", ["127.0.0.1", "①②⑦.⓪.⓪.①"])
async def test_the_last_line_refuses_what_passed_every_check(form: str) -> None:
    """Even a request that never met the judge opens no socket: literals skip the resolver."""
    async with RecordingUpstream() as upstream:
        guard = Guard(EgressPolicy(), ScriptedResolver({}))
        session = open_session(
            guard, proxy=None, tls=trusted_tls(), per_upstream=4, connect_timeout=1
        )
        trip.current.set(trip.Trip(destination("https://public.test"), "GET"))
        async with session:
            with pytest.raises(EgressBlocked, match="not judged"):
                await session.get(f"http://{form}:{upstream.port}/")
        assert upstream.connections == 0


def test_no_socket_without_a_judged_address() -> None:
    """The socket factory knows exactly the pinned address and port."""
    going = trip.Trip(destination("https://public.test"), "GET")
    going.pins = frozenset({("93.184.216.34", 443)})
    trip.current.set(going)
    good = (socket.AF_INET, socket.SOCK_STREAM, 6, "", ("93.184.216.34", 443))
    other_port = (socket.AF_INET, socket.SOCK_STREAM, 6, "", ("93.184.216.34", 80))
    other_host = (socket.AF_INET, socket.SOCK_STREAM, 6, "", ("127.0.0.1", 443))
    trip.open_socket(good).close()
    for address in (other_port, other_host):
        with pytest.raises(EgressBlocked, match="not judged"):
            trip.open_socket(address)


def test_the_hooks_that_hold_the_guard_exist() -> None:
    """A release of the HTTP client that drops one of them must fail here, not silently."""
    import inspect

    parameters = inspect.signature(aiohttp.TCPConnector).parameters
    assert {"resolver", "socket_factory", "use_dns_cache", "limit_per_host"} <= set(parameters)


KINDS = {
    "private": "10.0.0.5",
    "private, too": "192.168.1.1",
    "link-local": "169.254.1.1",
    "metadata": "169.254.169.254",
    "carrier-grade NAT": "100.64.0.1",
    "multicast": "224.0.0.1",
    "reserved": "240.0.0.1",
    "unspecified": "0.0.0.0",  # noqa: S104  # an address to refuse, not to bind
    "mapped": "::ffff:10.0.0.5",
    "unique local": "fd00::1",
    "link-local, six": "fe80::1",
    "NAT64": "64:ff9b::a00:5",
    "6to4": "2002:a00:5::",
}


@pytest.mark.parametrize("address", KINDS.values(), ids=KINDS.keys())
@pytest.mark.parametrize("first", [True, False], ids=["before", "behind"])
async def test_one_bad_address_keeps_the_request_from_the_good_one(
    address: str, first: bool
) -> None:
    """The server that listens is allowed; beside an address that is not, nothing reaches it."""
    async with RecordingUpstream() as upstream:
        answers = [address, "127.0.0.1"] if first else ["127.0.0.1", address]
        resolver = ScriptedResolver({"both.test": [answers]})
        async with GuardedClient(EgressPolicy(["127.0.0.1"]), resolver=resolver) as client:
            with pytest.raises(EgressBlocked) as raised:
                await client.request("GET", f"http://both.test:{upstream.port}/")
        assert (raised.value.sent, upstream.connections) == (False, 0)
