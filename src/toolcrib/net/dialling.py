"""This module opens one plain connection to a judged place, for who speaks a protocol of its own.

With the operator's egress proxy the connection goes through it, and the addresses are judged all
the same.
"""

from __future__ import annotations

import asyncio
from base64 import b64encode
from collections.abc import Sequence

from toolcrib.errors import SourceUnreachable
from toolcrib.net.guard import Guard
from toolcrib.net.proxy import Proxy
from toolcrib.net.urls import Destination

Connection = tuple[asyncio.StreamReader, asyncio.StreamWriter]
_SECONDS = 10.0
_ANSWER_LIMIT = 16_384


async def dial(guard: Guard, place: Destination, proxy: Proxy | None = None) -> Connection:
    """Connect to the first judged address that answers. Raises EgressBlocked, SourceUnreachable."""
    addresses: Sequence[str] = await guard.addresses(place)
    if proxy is None:
        return await _first(addresses, place.port, place.place)
    found = await proxy.addresses(guard.resolver)
    connection = await _first(found, proxy.port, "the egress proxy")
    try:
        async with asyncio.timeout(_SECONDS):
            await _tunnel(connection, place, proxy)
    except BaseException as error:
        connection[1].close()
        if isinstance(error, TimeoutError | OSError | EOFError | asyncio.LimitOverrunError):
            raise SourceUnreachable("The egress proxy did not answer.", sent=False) from error
        raise
    return connection


async def _first(addresses: Sequence[str], port: int, who: str) -> Connection:
    cause: Exception | None = None
    for address in addresses:
        try:
            async with asyncio.timeout(_SECONDS):
                return await asyncio.open_connection(address, port)
        except (OSError, TimeoutError) as error:
            cause = error
    words = getattr(cause, "strerror", None) or "no answer in time"
    raise SourceUnreachable(f"{who} cannot be reached: {words}.", sent=False) from cause


async def _tunnel(connection: Connection, place: Destination, proxy: Proxy) -> None:
    """Ask the proxy to connect further. Raises SourceUnreachable when it does not."""
    reader, writer = connection
    lines = [f"CONNECT {place.place} HTTP/1.1", f"Host: {place.place}"]
    if proxy.url.user:
        secret = f"{proxy.url.user}:{proxy.url.password or ''}"
        lines.append(f"Proxy-Authorization: Basic {b64encode(secret.encode()).decode()}")
    writer.write(("\r\n".join(lines) + "\r\n\r\n").encode())
    answer = await reader.readuntil(b"\r\n\r\n")
    status = answer.split(b" ", 2)[1:2]
    if status != [b"200"] or len(answer) > _ANSWER_LIMIT:
        raise SourceUnreachable(f"The egress proxy does not connect to {place.place}.", sent=False)
