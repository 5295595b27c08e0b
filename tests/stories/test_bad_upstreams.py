"""Upstreams that misbehave, through the whole stack: a readable result, soon, in little memory."""

from __future__ import annotations

import asyncio
import gc
import tracemalloc
from collections.abc import AsyncGenerator, Awaitable, Callable
from typing import Any

import pytest

from tests.support.endpoints import Endpoints, open_endpoints
from toolcrib.invocation.flight import Outcome
from toolcrib.settings import Settings
from toolcrib.testing.replies import (
    answer,
    bad_chunks,
    close_early,
    drip,
    drop,
    flood,
    gzip_bomb,
    hang,
    json_answer,
    raw,
)

DEADLINE = 2.0
MEGABYTE = 1024 * 1024
TEXT = [("Content-Type", "text/plain")]


def typed_flood(size: int, kind: str) -> Callable[..., Awaitable[None]]:
    """So many zero bytes of this type."""

    async def reply(_: Any, wire: Any) -> None:
        head = f"HTTP/1.1 200 OK\r\nContent-Type: {kind}\r\nContent-Length: {size}\r\n\r\n"
        await wire.send(head.encode())
        for _number in range(size // 65_536):
            await wire.send(b"0" * 65_536)
        wire.close()

    return reply


@pytest.fixture
async def endpoints(settings: Settings) -> AsyncGenerator[Endpoints]:
    changes = {"call_timeout": 60, "breaker_failures": 0}
    async with open_endpoints(settings, **changes) as opened:
        yield opened


def code_of(outcome: Outcome) -> str | None:
    return outcome.output.error and outcome.output.error.code


FAILING = {
    "hang": (hang(), "timeout"),
    "drip": (drip(b"0" * 100, every=0.2), "timeout"),
    "drop": (drop(), "upstream_error"),
    "close early": (close_early(b"half", promised=1000), "upstream_error"),
    "bad chunks": (bad_chunks(), "upstream_error"),
    "no HTTP": (raw(b"SSH-2.0-OpenSSH_9.2\r\n\r\n"), "upstream_error"),
    "two lengths": (
        raw(b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\nContent-Length: 5\r\n\r\nhello"),
        "upstream_error",
    ),
    "no length": (raw(b"HTTP/1.1 200 OK\r\nContent-Length: many\r\n\r\nhi"), "upstream_error"),
    "bad gzip": (
        answer(body=b"this is no gzip", headers=[*TEXT, ("Content-Encoding", "gzip")]),
        "upstream_error",
    ),
}


@pytest.mark.parametrize("kind", ["api", "package"])
@pytest.mark.parametrize(("reply", "code"), FAILING.values(), ids=FAILING.keys())
async def test_a_failure_is_a_sentence_within_the_deadline(
    endpoints: Endpoints, kind: str, reply: Any, code: str
) -> None:
    """The model reads what happened; what never ends is ended, and other calls are unharmed."""
    endpoints.upstream.reply("/bad", reply)
    endpoints.upstream.reply("/good", json_answer({"fine": True}))
    await (endpoints.api("bad", "/bad") if kind == "api" else endpoints.package("bad", "/bad"))
    await endpoints.api("good", "/good")
    seconds = DEADLINE if code == "timeout" else None

    bad, *good = await asyncio.gather(
        endpoints.call("bad", timeout=seconds), *(endpoints.call("good") for _ in range(5))
    )

    assert code_of(bad) == code
    assert "Traceback" not in bad.output.text
    assert endpoints.upstream.place in bad.output.text or code == "timeout"
    assert [one.output.structured for one in good] == [{"fine": True}] * 5


LARGE = {
    "100 MB of text": (typed_flood(100 * MEGABYTE, "text/plain"), None),
    "100 MB of a file": (typed_flood(100 * MEGABYTE, "application/zip"), "too_large"),
    "100 MB of nothing known": (flood(100 * MEGABYTE), "too_large"),
    "100 MB without a length": (flood(100 * MEGABYTE, declared=False), "too_large"),
    "a bomb of 100 MB": (gzip_bomb(100 * MEGABYTE), None),
}


@pytest.mark.parametrize(("reply", "code"), LARGE.values(), ids=LARGE.keys())
async def test_a_large_answer_needs_little_memory(
    settings: Settings, reply: Any, code: str | None
) -> None:
    """Of 100 MB the first few are read; a text is cut and says so, a file is refused."""
    async with open_endpoints(settings, breaker_failures=0) as endpoints:
        endpoints.upstream.reply("/x", reply)
        await endpoints.api("t", "/x")
        gc.collect()
        tracemalloc.start()
        try:
            outcome = await endpoints.call("t")
            _, peak = tracemalloc.get_traced_memory()
        finally:
            tracemalloc.stop()

    assert code_of(outcome) == code
    assert outcome.output.truncated is (code is None)
    assert len(outcome.output.text) <= settings.result_limit + 200
    assert peak < 48 * MEGABYTE


CHARSETS = {
    "a charset that is none": ("text/plain; charset=klingon", "é".encode(), "é"),
    "a codec that is no charset": ("text/plain; charset=base64", "é".encode(), "é"),
    "bytes that are not UTF-8": ("text/plain; charset=utf-8", b"a\xffb", "a\ufffdb"),
    "UTF-8 that is called Latin-1": ("text/plain; charset=latin-1", "é".encode(), "Ã©"),
    "JSON that is none": ("application/json", b"{not json", "{not json"),
    "JSON in another charset": (
        "application/json; charset=utf-16",
        '{"a": 1}'.encode("utf-16"),
        None,
    ),
}


@pytest.mark.parametrize(("kind", "body", "text"), CHARSETS.values(), ids=CHARSETS.keys())
async def test_a_wrong_charset_is_still_read(
    endpoints: Endpoints, kind: str, body: bytes, text: str | None
) -> None:
    """A model gets text, whatever the upstream calls it."""
    endpoints.upstream.reply("/x", answer(body=body, headers=[("Content-Type", kind)]))
    await endpoints.api("t", "/x")

    outcome = await endpoints.call("t")

    assert code_of(outcome) is None
    assert text is None or outcome.output.text == text
    assert text is not None or outcome.output.structured == {"a": 1}
