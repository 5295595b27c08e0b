"""This module is the guard as a proxy, for programs that connect by themselves: a browser, git.

It listens on loopback and lets in only who brings a pass, so that no other user of the machine gets
out through it. Every CONNECT and every plain request is judged like any other way out, connects to
the judged address, and through a tunnel nothing but TLS goes, unless the operator lists the place.
"""

from __future__ import annotations

import asyncio
import secrets
from base64 import b64decode, b64encode
from collections import deque
from contextlib import suppress
from dataclasses import dataclass, field, replace
from typing import Final

from toolcrib.errors import EgressBlocked, SourceError
from toolcrib.net.dialling import Connection, dial
from toolcrib.net.guard import Guard
from toolcrib.net.proxied import Asked, closing, read_request, refusal
from toolcrib.net.proxy import Proxy
from toolcrib.net.urls import Destination

HOST: Final = "127.0.0.1"
_PIECE: Final = 65_536
_HELLO: Final = 0x16
"""The first byte of TLS."""
_FIRST_BYTES: Final = 30.0
_IDLE: Final = 600.0
_REMEMBERED: Final = 20


def _few() -> deque[str]:
    return deque(maxlen=_REMEMBERED)


@dataclass(kw_only=True, slots=True)
class Pass:
    """The right to use the gate, for one program. `refused` are the latest refusals, in words."""

    user: str
    password: str = field(repr=False)
    refused: deque[str] = field(default_factory=_few)


class Gate:
    """Make it with `open_gate`, in the loop that it serves, and `close` it."""

    def __init__(self, guard: Guard, proxy: Proxy | None) -> None:
        self._guard = guard
        self._proxy = proxy
        self._passes: dict[str, Pass] = {}
        self._server: asyncio.Server | None = None
        self._open: set[asyncio.StreamWriter] = set()

    @property
    def port(self) -> int:
        if self._server is None:
            raise RuntimeError("The gate is not open.")
        return int(self._server.sockets[0].getsockname()[1])

    @property
    def address(self) -> str:
        """What a program is given as its proxy, without the pass."""
        return f"http://{HOST}:{self.port}"

    def admit(self) -> Pass:
        """A new pass; `dismiss` it when its program ends."""
        made = Pass(user=secrets.token_hex(8), password=secrets.token_urlsafe(32))
        self._passes[made.user] = made
        return made

    def dismiss(self, one: Pass) -> None:
        self._passes.pop(one.user, None)

    async def listen(self) -> None:
        self._server = await asyncio.start_server(self._serve, HOST, 0, limit=_PIECE)

    async def close(self) -> None:
        if self._server is not None:
            self._server.close()
            for writer in tuple(self._open):
                writer.transport.abort()
            await self._server.wait_closed()

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self._open.add(writer)
        try:
            await self._answer(reader, writer)
        except* (OSError, EOFError, TimeoutError, asyncio.LimitOverrunError):
            pass  # whoever asked is gone, or never said what it wanted
        finally:
            self._open.discard(writer)
            writer.close()
            with suppress(OSError):
                await writer.wait_closed()

    async def _answer(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        async with asyncio.timeout(_FIRST_BYTES):
            asked = await read_request(reader)
        if asked is None:
            writer.write(refusal(400, "This is no request to a proxy."))
            return
        let_in = self._let_in(asked)
        if let_in is None:
            writer.write(refusal(407, "This proxy is not for you."))
            return
        try:
            place, path = self._guard.policy.check_url(asked.url)
            onward = await dial(self._guard, place, self._proxy)
        except SourceError as error:
            why = f"{error.message} {error.hint or ''}".strip()
            let_in.refused.append(why)
            writer.write(refusal(403 if isinstance(error, EgressBlocked) else 502, why))
            return
        self._open.add(onward[1])
        try:
            if asked.tunnel:
                writer.write(b"HTTP/1.1 200 Connected\r\n\r\n")
                if not await self._may_be_plain(place) and not await _speaks_tls(reader, onward):
                    let_in.refused.append(f"{place.place} was not spoken to in TLS.")
                    return
            else:
                onward[1].write(asked.head(path))
            await _both_ways((reader, writer), onward, tunnel=asked.tunnel)
        finally:
            self._open.discard(onward[1])
            onward[1].close()

    async def _may_be_plain(self, place: Destination) -> bool:
        """Whether the operator's list lets this place be spoken to without TLS."""
        try:
            await self._guard.addresses(replace(place, scheme="http"))
        except EgressBlocked:
            return False
        return True

    def _let_in(self, asked: Asked) -> Pass | None:
        kind, _, value = asked.authorization.partition(" ")
        with suppress(ValueError):
            user, _, password = b64decode(value, validate=True).decode().partition(":")
            known = self._passes.get(user)
            right = known is not None and secrets.compare_digest(known.password, password)
            return known if right and kind.lower() == "basic" else None
        return None


async def open_gate(guard: Guard, *, proxy: str = "") -> Gate:
    """`proxy` is `TOOLCRIB_EGRESS_PROXY`'s text."""
    gate = Gate(guard, Proxy(proxy) if proxy else None)
    await gate.listen()
    return gate


def authorization(one: Pass) -> str:
    """The value of `Proxy-Authorization`."""
    return f"Basic {b64encode(f'{one.user}:{one.password}'.encode()).decode()}"


async def _speaks_tls(reader: asyncio.StreamReader, onward: Connection) -> bool:
    """Look at what goes into a tunnel first, and pass it on if it is a hello."""
    async with asyncio.timeout(_FIRST_BYTES):
        first = await reader.read(_PIECE)
    if not first or first[0] != _HELLO:
        return False
    onward[1].write(first)
    return True


async def _both_ways(one: Connection, other: Connection, *, tunnel: bool) -> None:
    async with asyncio.TaskGroup() as group:
        there = group.create_task(_pass_on(one[0], other[1]))
        try:
            if not tunnel:
                one[1].write(closing(await _final_head(other[0])))
            await _pass_on(other[0], one[1])
        finally:
            there.cancel()  # the answer is over: nothing more is asked on this connection


async def _final_head(reader: asyncio.StreamReader) -> bytes:
    """The head of the answer itself, after those that only announce it."""
    while True:
        async with asyncio.timeout(_IDLE):
            head = await reader.readuntil(b"\r\n\r\n")
        if not head.partition(b" ")[2].startswith(b"1"):
            return head


async def _pass_on(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    with suppress(OSError, TimeoutError):
        while True:
            async with asyncio.timeout(_IDLE):
                piece = await reader.read(_PIECE)
            if not piece:
                break
            writer.write(piece)
            await writer.drain()
        if writer.can_write_eof():
            writer.write_eof()
