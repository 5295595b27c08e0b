"""This module checks the threaded resolver against the system's own, and against slow ones."""

from __future__ import annotations

import asyncio
import socket
import threading
from collections.abc import Iterator

import pytest

from toolcrib.net.resolver import ThreadedResolver


class Lookups:
    """Stands where the system's lookup stands: counts, waits, answers or fails."""

    def __init__(self) -> None:
        self.asked: list[str] = []
        self.go = threading.Event()
        self.go.set()
        self.failure: OSError | None = None

    def getaddrinfo(self, host: str, port: int, **_: object) -> list[tuple[object, ...]]:
        self.asked.append(host)
        self.go.wait(60)
        if self.failure is not None:
            raise self.failure
        found = (socket.AF_INET, socket.SOCK_STREAM, 6, "", ("192.0.2.7", port))
        return [found, found]


@pytest.fixture
def lookups(monkeypatch: pytest.MonkeyPatch) -> Iterator[Lookups]:
    """The system's getaddrinfo, replaced for one test."""
    stand_in = Lookups()
    monkeypatch.setattr(socket, "getaddrinfo", stand_in.getaddrinfo)
    yield stand_in
    stand_in.go.set()


async def test_the_systems_own_names_resolve() -> None:
    """`localhost` has loopback addresses, each once."""
    resolver = ThreadedResolver()
    found = await resolver.resolve("localhost", 80)
    await resolver.close()
    assert "127.0.0.1" in found
    assert {"127.0.0.1", "::1"} >= set(found)
    assert len(found) == len(set(found))


async def test_a_name_that_is_not_there_is_an_os_error() -> None:
    """`.invalid` never resolves (RFC 2606)."""
    resolver = ThreadedResolver()
    with pytest.raises(OSError, match=r".+"):
        await resolver.resolve("nothing.invalid", 443)
    await resolver.close()


async def test_callers_share_one_lookup_and_its_answer(lookups: Lookups) -> None:
    """Ten callers at once ask the system once, and so does one right after."""
    lookups.go.clear()
    resolver = ThreadedResolver()
    waiting = [asyncio.create_task(resolver.resolve("a.test", 443)) for _ in range(10)]
    await asyncio.sleep(0)
    lookups.go.set()
    assert await asyncio.gather(*waiting) == [("192.0.2.7",)] * 10
    assert await resolver.resolve("a.test", 443) == ("192.0.2.7",)
    assert lookups.asked == ["a.test"]
    await resolver.close()


async def test_an_answer_is_asked_for_again_when_it_is_old(lookups: Lookups) -> None:
    """With no time to live every question reaches the system."""
    resolver = ThreadedResolver(ttl=0)
    await resolver.resolve("a.test", 443)
    await resolver.resolve("a.test", 443)
    assert lookups.asked == ["a.test", "a.test"]
    await resolver.close()


async def test_failures_are_not_remembered(lookups: Lookups) -> None:
    """A name server that recovers is believed at once."""
    resolver = ThreadedResolver()
    lookups.failure = socket.gaierror(socket.EAI_AGAIN, "Temporary failure in name resolution")
    with pytest.raises(socket.gaierror):
        await resolver.resolve("a.test", 443)
    lookups.failure = None
    assert await resolver.resolve("a.test", 443) == ("192.0.2.7",)
    await resolver.close()


async def test_a_silent_name_server_ends_at_the_timeout(lookups: Lookups) -> None:
    """The caller gets TimeoutError; another host is answered meanwhile; the loop never blocks."""
    lookups.go.clear()
    resolver = ThreadedResolver(timeout=0.05)
    with pytest.raises(TimeoutError, match=r"no answer from DNS within 0\.05 s"):
        await resolver.resolve("slow.test", 443)
    lookups.go.set()
    assert await resolver.resolve("other.test", 443) == ("192.0.2.7",)
    await resolver.close()


async def test_only_so_many_answers_are_kept(lookups: Lookups) -> None:
    """The oldest answer makes room."""
    resolver = ThreadedResolver(size=2)
    for host in ("a.test", "b.test", "c.test", "c.test", "a.test"):
        await resolver.resolve(host, 443)
    assert lookups.asked == ["a.test", "b.test", "c.test", "a.test"]
    await resolver.close()
