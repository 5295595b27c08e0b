"""This module asks the operating system for a host's addresses, without ever blocking the loop.

`Resolver` is the port; what it answers is only ever a list of addresses to be judged. The threaded
one has threads of its own, so that a name server that hangs delays nothing but lookups, asks once
for callers that want the same host at the same time, and keeps answers for a few seconds.
"""

from __future__ import annotations

import asyncio
import socket
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from time import monotonic
from typing import Protocol

Answer = tuple[str, ...]


class Resolver(Protocol):
    """Answers a host's numeric addresses, or raises OSError (TimeoutError included)."""

    async def resolve(self, host: str, port: int) -> Sequence[str]: ...

    async def close(self) -> None: ...


class ThreadedResolver:
    """getaddrinfo in threads. `timeout` and `ttl` in seconds; failures are not remembered."""

    def __init__(
        self, *, timeout: float = 5.0, ttl: float = 10.0, size: int = 1000, threads: int = 8
    ) -> None:
        self._timeout = timeout
        self._ttl = ttl
        self._size = size
        self._pool = ThreadPoolExecutor(max_workers=threads, thread_name_prefix="toolcrib-dns")
        self._kept: dict[tuple[str, int], tuple[float, Answer]] = {}
        self._asked: dict[tuple[str, int], asyncio.Future[Answer]] = {}

    async def resolve(self, host: str, port: int) -> Sequence[str]:
        key = (host, port)
        kept = self._kept.get(key)
        if kept is not None and kept[0] > monotonic():
            return kept[1]
        asked = self._asked.get(key)
        if asked is None:
            loop = asyncio.get_running_loop()
            asked = loop.run_in_executor(self._pool, _lookup, host, port)
            self._asked[key] = asked
            asked.add_done_callback(lambda done: self._answered(key, done))
        try:
            async with asyncio.timeout(self._timeout):
                return await asyncio.shield(asked)
        except TimeoutError:
            raise TimeoutError(f"no answer from DNS within {self._timeout:g} s") from None

    async def close(self) -> None:
        self._pool.shutdown(wait=False, cancel_futures=True)

    def _answered(self, key: tuple[str, int], done: asyncio.Future[Answer]) -> None:
        self._asked.pop(key, None)
        if done.cancelled() or done.exception() is not None:
            return
        if len(self._kept) >= self._size:
            self._kept.pop(next(iter(self._kept)))
        self._kept[key] = (monotonic() + self._ttl, done.result())


def _lookup(host: str, port: int) -> Answer:
    """Every address, in the system's order of preference."""
    found = socket.getaddrinfo(
        host, port, type=socket.SOCK_STREAM, proto=socket.IPPROTO_TCP, flags=socket.AI_ADDRCONFIG
    )
    return tuple(dict.fromkeys(str(sockaddr[0]) for *_, sockaddr in found))
