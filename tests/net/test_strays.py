"""This module sends answers that nobody asked for; none of them reaches the next caller."""

from __future__ import annotations

import asyncio
import socket
from collections.abc import AsyncIterator, Callable
from contextlib import suppress

import pytest

from tests.net.speaking import Server, reply
from toolcrib.errors import SourceProtocolError
from toolcrib.net.client import GuardedClient
from toolcrib.net.guard import EgressPolicy

STRAYS = {
    "an answer": reply(b"stray"),
    "half an answer": b"HTTP/1.1 200 OK\r\nX-Stray: 1\r\nX-Rest: ",
    "half a line": b"HTTP/1.1 2",
    "an empty line": b"\r\n",
    "no HTTP": b"220 hello\r\n",
    "many answers": reply(b"stray") * 50,
    "an interim answer": b"HTTP/1.1 103 Early Hints\r\nLink: <x>\r\n\r\n",
}


@pytest.fixture
async def clients() -> AsyncIterator[Callable[[Server], GuardedClient]]:
    made: list[GuardedClient] = []
    servers: list[Server] = []

    def client(server: Server) -> GuardedClient:
        servers.append(server)
        made.append(GuardedClient(EgressPolicy([server.place])))
        return made[-1]

    yield client
    for one in made:
        await one.close()
    for server in servers:
        server.close()


Clients = Callable[[Server], GuardedClient]


async def asked(client: GuardedClient, server: Server, method: str = "POST") -> bytes:
    return (await client.request(method, f"http://{server.place}/", timeout=30)).body


@pytest.mark.parametrize("stray", STRAYS.values(), ids=STRAYS.keys())
async def test_a_stray_that_the_loop_has_not_read_answers_nobody(
    clients: Clients, stray: bytes
) -> None:
    """The bytes wait in the system when the next request is made: it gets a new connection."""
    server = Server()
    client = clients(server)
    assert await asked(client, server) == b"connection 1"
    server.connections[0].sendall(stray)  # on loopback they are there when this returns
    assert await asked(client, server) == b"connection 2"
    assert await asked(client, server) == b"connection 2"


@pytest.mark.parametrize("stray", STRAYS.values(), ids=STRAYS.keys())
async def test_a_stray_that_the_loop_has_read_answers_nobody(
    clients: Clients, stray: bytes
) -> None:
    """Nor does one that came while the connection was idle, whole or in part."""
    server = Server()
    client = clients(server)
    assert await asked(client, server) == b"connection 1"
    server.connections[0].sendall(stray)
    for _ in range(20):  # the loop reads what is there at each turn
        await asyncio.sleep(0)
    assert await asked(client, server) == b"connection 2"


@pytest.mark.parametrize("stray", [reply(b"stray"), reply(b"stray") * 50, b"220 hello\r\n\r\n"])
async def test_a_stray_that_comes_with_the_answer_answers_nobody(
    clients: Clients, stray: bytes
) -> None:
    """One segment holds both: the caller gets the first, or an error, and the rest is dropped."""
    server = Server(behind=stray)
    client = clients(server)
    with suppress(SourceProtocolError):
        assert await asked(client, server) == b"connection 1"
    assert await asked(client, server) == b"connection 2"


async def test_a_connection_that_the_server_ended_is_not_written_to(clients: Clients) -> None:
    """Its end waits unread; a POST is not lost on it."""
    server = Server()
    client = clients(server)
    assert await asked(client, server) == b"connection 1"
    server.connections[0].shutdown(socket.SHUT_WR)
    assert await asked(client, server) == b"connection 2"


async def test_good_connections_are_kept(clients: Clients) -> None:
    """A hundred requests of every kind share one."""
    server = Server()
    client = clients(server)
    for number in range(100):
        method = ("GET", "POST", "PUT", "DELETE")[number % 4]
        assert await asked(client, server, method) == b"connection 1"
