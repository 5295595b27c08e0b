"""The guard as a proxy: who may use it, where it leads, and what it passes on."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator

import pytest

from tests.support.ports import quiet_port
from toolcrib.net.gate import HOST, Gate, Pass, authorization, open_gate
from toolcrib.net.guard import EgressPolicy, Guard
from toolcrib.testing.resolvers import ScriptedResolver
from toolcrib.testing.upstream import RecordingUpstream


@pytest.fixture
async def upstream() -> AsyncIterator[RecordingUpstream]:
    async with RecordingUpstream() as server:
        yield server


@pytest.fixture
async def gate(upstream: RecordingUpstream) -> AsyncIterator[Gate]:
    """A gate of an operator who allows the upstream and nothing else that is private."""
    resolver = ScriptedResolver({"inside.test": [["10.0.0.7"]]})
    opened = await open_gate(Guard(EgressPolicy([upstream.place]), resolver))
    yield opened
    await opened.close()


async def ask(gate: Gate, head: str, body: bytes = b"", more: bytes = b"") -> bytes:
    """Everything that the gate answers; `more` is sent once the first of it came."""
    reader, writer = await asyncio.open_connection(HOST, gate.port)
    writer.write(head.replace("\n", "\r\n").encode() + b"\r\n" + body)
    first = await reader.readuntil(b"\r\n\r\n")
    if more:
        writer.write(more)
    rest = await reader.read()
    writer.close()
    return first + rest


def through(gate: Gate, request: str, admitted: Pass | None = None) -> str:
    admitted = admitted or gate.admit()
    return f"{request}\nProxy-Authorization: {authorization(admitted)}\n"


@pytest.mark.parametrize("method", ["GET", "CONNECT"])
async def test_nobody_without_a_pass(gate: Gate, upstream: RecordingUpstream, method: str) -> None:
    """Neither none, nor a wrong one, nor one that was taken back."""
    target = upstream.place if method == "CONNECT" else upstream.url()
    request = f"{method} {target} HTTP/1.1"
    old = gate.admit()
    gate.dismiss(old)
    wrong = Pass(user=gate.admit().user, password="guessed")
    for head in (
        f"{request}\n",
        f"{request}\nProxy-Authorization: Basic !!!\n",
        f"{request}\nProxy-Authorization: Bearer {wrong.user}\n",
        through(gate, request, old),
        through(gate, request, wrong),
    ):
        answer = await ask(gate, head)
        assert answer.startswith(b"HTTP/1.1 407 ")
        assert b"Proxy-Authenticate: Basic" in answer
    assert upstream.requests == []


async def test_a_request_goes_on_without_what_was_for_the_gate(
    gate: Gate, upstream: RecordingUpstream
) -> None:
    """Path, body and fields arrive; the pass, and a host that was not judged, do not."""
    head = through(gate, f"POST {upstream.url('/a?b=1')} HTTP/1.1") + (
        "Host: elsewhere.test\nX-Mine: yes\nProxy-Connection: keep-alive\nContent-Length: 5\n"
    )
    answer = await ask(gate, head, b"hello")
    assert answer.startswith(b"HTTP/1.1 200 ")
    assert b"connection: close" in answer.lower()
    request = await upstream.received()
    assert (request.method, request.target, request.body) == ("POST", "/a?b=1", b"hello")
    assert request.header("Host") == upstream.place
    assert request.header("X-Mine") == "yes"
    assert request.header("Proxy-Authorization") is None
    assert request.header("Proxy-Connection") is None


async def test_a_tunnel_to_a_listed_place_carries_anything(
    gate: Gate, upstream: RecordingUpstream
) -> None:
    """What the operator allows may be spoken to without TLS."""
    inner = f"GET /in HTTP/1.1\r\nHost: {upstream.place}\r\nConnection: close\r\n\r\n".encode()
    answer = await ask(gate, through(gate, f"CONNECT {upstream.place} HTTP/1.1"), more=inner)
    assert answer.startswith(b"HTTP/1.1 200 Connected\r\n\r\nHTTP/1.1 200 ")
    assert (await upstream.received()).path == "/in"


@pytest.mark.parametrize(
    ("request_line", "why"),
    [
        ("CONNECT 127.0.0.1:1 HTTP/1.1", "127.0.0.1"),
        ("CONNECT [::1]:443 HTTP/1.1", "::1"),
        ("CONNECT inside.test:443 HTTP/1.1", "inside.test"),
        ("CONNECT 8.8.8.8:80 HTTP/1.1", "only https is"),
        ("GET http://127.0.0.1:1/ HTTP/1.1", "127.0.0.1"),
        ("GET http://169.254.169.254/latest HTTP/1.1", "169.254.169.254"),
        ("GET http://inside.test/ HTTP/1.1", "inside.test"),
        ("GET http://user:secret@inside.test/ HTTP/1.1", "user name or password"),
    ],
)
async def test_what_the_guard_refuses_gets_a_page_that_says_why(
    gate: Gate, request_line: str, why: str
) -> None:
    """The pass remembers the reason, for whoever started the program."""
    admitted = gate.admit()
    answer = await ask(gate, through(gate, request_line, admitted))
    assert answer.startswith(b"HTTP/1.1 403 Forbidden\r\n")
    assert why in answer.decode()
    assert len(admitted.refused) == 1
    assert why in admitted.refused[0]
    assert "secret" not in admitted.refused[0].replace("secrets", "")


@pytest.mark.parametrize(
    "head",
    [
        "GET / HTTP/1.1\n",
        "GET https://a.test/ HTTP/1.1\n",
        "nonsense\n",
        "GET http://a.test/ HTTP/1.1\n folded: yes\n",
    ],
)
async def test_what_is_no_request_to_a_proxy(gate: Gate, head: str) -> None:
    """It is answered as such, and nothing is connected to."""
    assert (await ask(gate, head)).startswith(b"HTTP/1.1 400 ")


async def test_a_place_that_does_not_answer(gate: Gate, upstream: RecordingUpstream) -> None:
    """The guard allows it; nobody is there."""
    port = quiet_port()
    guard = Guard(EgressPolicy([f"127.0.0.1:{port}"]), ScriptedResolver({}))
    other = await open_gate(guard)
    answer = await ask(other, through(other, f"CONNECT 127.0.0.1:{port} HTTP/1.1"))
    await other.close()
    assert answer.startswith(b"HTTP/1.1 502 ")
    assert b"cannot be reached" in answer


async def test_through_the_operators_proxy(upstream: RecordingUpstream) -> None:
    """It connects; the addresses are judged all the same."""
    heads: list[bytes] = []

    async def connect(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        heads.append(await reader.readuntil(b"\r\n\r\n"))
        inward, outward = await asyncio.open_connection(*upstream.place.split(":"))
        writer.write(b"HTTP/1.1 200 Connection established\r\n\r\n")
        outward.write(await reader.readuntil(b"\r\n\r\n"))
        writer.write(await inward.read())
        writer.close()
        outward.close()

    proxy = await asyncio.start_server(connect, HOST, 0)
    place = f"http://ada:pass@127.0.0.1:{proxy.sockets[0].getsockname()[1]}"
    resolver = ScriptedResolver({"127.0.0.1": [["127.0.0.1"]]})
    gate = await open_gate(Guard(EgressPolicy([upstream.place]), resolver), proxy=place)
    try:
        answer = await ask(
            gate, through(gate, f"GET {upstream.url('/far')} HTTP/1.1") + "Connection: close\n"
        )
        refused = await ask(gate, through(gate, "CONNECT 10.0.0.1:443 HTTP/1.1"))
    finally:
        await gate.close()
        proxy.close()
    assert answer.startswith(b"HTTP/1.1 200 ")
    assert refused.startswith(b"HTTP/1.1 403 ")
    assert [head.split(b"\r\n")[0].decode() for head in heads] == [
        f"CONNECT {upstream.place} HTTP/1.1"
    ]
    assert b"Proxy-Authorization: Basic YWRhOnBhc3M=" in heads[0]


async def test_a_tunnel_elsewhere_carries_tls_alone(upstream: RecordingUpstream) -> None:
    """A place that the operator does not list is spoken to in TLS, or not at all."""
    host, port = upstream.place.split(":")
    resolver = ScriptedResolver({"public.test": [["93.184.215.14"]]})
    gate = await open_gate(Redirected(EgressPolicy(), resolver, host))
    admitted = gate.admit()
    line = through(gate, f"CONNECT public.test:{port} HTTP/1.1", admitted)
    try:
        answer = await ask(gate, line, more=b"GET / HTTP/1.1\r\n\r\n")
        assert answer == b"HTTP/1.1 200 Connected\r\n\r\n"
        assert "not spoken to in TLS" in admitted.refused[0]
        assert upstream.requests == []
    finally:
        await gate.close()


class Redirected(Guard):
    """A guard that judges as ever, and then leads to loopback, as no test may leave the machine."""

    def __init__(self, policy: EgressPolicy, resolver: ScriptedResolver, host: str) -> None:
        super().__init__(policy, resolver)
        self._host = host

    async def addresses(self, place: object) -> tuple[str, ...]:
        await super().addresses(place)  # type: ignore[arg-type]
        return (self._host,)
