"""This module makes everything before the request slow: it is inside the call's deadline."""

from __future__ import annotations

import asyncio
import time
from typing import Any

import pytest

from tests.sources.http.conftest import Bench, a_call
from toolcrib.net.client import GuardedClient
from toolcrib.net.guard import EgressPolicy
from toolcrib.sources.http.api import ApiKind
from toolcrib.sources.http.packages import PackageKind
from toolcrib.testing.replies import hang

PACKAGE: dict[str, Any] = {
    "slug": "kb",
    "name": "KB",
    "type": "http",
    "config": {"url": "https://kb.test/", "headers": {"X-API-Key": "{{KB_KEY}}"}, "timeout": 60},
}
LONG = 10.0
"""What a busy machine may take longer."""


async def never(*_: object) -> str:
    await asyncio.Event().wait()
    return ""


class SlowResolver:
    """A name server that never answers."""

    async def resolve(self, host: str, port: int) -> tuple[str, ...]:
        await never()
        return ()

    async def close(self) -> None: ...


async def test_a_slow_vault_is_inside_the_deadline(bench: Bench) -> None:
    """No secret in time, no call: nothing is sent, and it says what it waited for."""
    source = await PackageKind(bench.client, never).open(PACKAGE, {})
    began = time.monotonic()
    output = await source.call("kb", a_call({}, deadline=0.2))
    assert output.error is not None
    assert output.error.code == "timeout"
    assert "the secrets were not ready within 0.2 s" in output.text
    assert time.monotonic() - began < LONG


async def test_a_slow_name_server_is_inside_the_deadline() -> None:
    """The lookup has no deadline of its own that is longer."""
    async with GuardedClient(EgressPolicy(), resolver=SlowResolver()) as client:
        options = {"name": "x", "url": "https://slow.test/"}
        source = await ApiKind(client).open({"code": "x", "name": "x", "options": options}, {})
        began = time.monotonic()
        call = a_call({}, deadline=0.2)
        output = await source.call("x", call)
    assert output.error is not None
    assert (output.error.code, call.exchange.sent) == ("timeout", False)
    assert time.monotonic() - began < LONG


async def test_a_server_that_accepts_and_says_nothing_is_inside_the_deadline() -> None:
    """TLS is asked for and never answered."""
    held: list[asyncio.StreamWriter] = []

    async def silent(_: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        held.append(writer)

    server = await asyncio.start_server(silent, "127.0.0.1", 0)
    place = f"127.0.0.1:{server.sockets[0].getsockname()[1]}"
    async with server, GuardedClient(EgressPolicy([place])) as client:
        options = {"name": "x", "url": f"https://{place}/"}
        source = await ApiKind(client).open({"code": "x", "name": "x", "options": options}, {})
        began = time.monotonic()
        call = a_call({}, deadline=0.3)
        output = await source.call("x", call)
        for writer in held:
            writer.close()
    assert output.error is not None
    assert (output.error.code, call.exchange.sent) == ("timeout", False)
    assert time.monotonic() - began < LONG


@pytest.mark.parametrize("spent", [0.4])
async def test_what_came_before_is_taken_off_the_request(bench: Bench, spent: float) -> None:
    """Half the deadline for the secret leaves half of it for the answer."""

    async def slow(_: str) -> str:
        await asyncio.sleep(spent)
        return "a-secret-value"

    bench.upstream.reply("/x", hang())
    package = {**PACKAGE, "config": {**PACKAGE["config"], "url": bench.url("/x")}}
    source = await PackageKind(bench.client, slow).open(package, {})
    output = await source.call("kb", a_call({}, deadline=spent + 0.2))
    assert output.error is not None
    assert output.error.code == "timeout"
    seconds = float(output.text.split("within ")[1].split(" s")[0])
    assert 0 < seconds <= 0.201
