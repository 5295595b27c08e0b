"""What a model is told when nobody can tell what happened: unknown, and never simply failed."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator
from typing import Any

import pytest

from tests.support.endpoints import Endpoints, open_endpoints
from toolcrib.settings import Settings
from toolcrib.testing.replies import answer, close_early, drip, drop, hang, raw

SHORT = 2.0
"""Seconds for an upstream that never answers: the request has to leave within them."""


@pytest.fixture
async def endpoints(settings: Settings) -> AsyncGenerator[Endpoints]:
    async with open_endpoints(settings, "127.0.0.1:1", call_timeout=60) as opened:
        yield opened


async def put(endpoints: Endpoints, kind: str, method: str, path: str = "/x") -> None:
    """A tool `t` of either kind."""
    if kind == "api":
        await endpoints.api("t", path, method=method)
    else:
        await endpoints.package("t", path, method=method)


@pytest.mark.parametrize("kind", ["api", "package"])
@pytest.mark.parametrize(
    ("reply", "code"),
    [
        (hang(), "timeout"),
        (drip(b"0123456789" * 10, every=0.2), "timeout"),
        (drop(), "upstream_error"),
        (close_early(b"half", promised=100), "upstream_error"),
        (raw(b"no HTTP at all\r\n\r\n"), "upstream_error"),
    ],
    ids=["hang", "drip", "drop", "half", "nonsense"],
)
async def test_a_write_without_an_answer_is_unknown_and_a_read_has_failed(
    endpoints: Endpoints, kind: str, reply: Any, code: str
) -> None:
    """The same misfortune: a GET may be made again, a POST may have been carried out."""
    endpoints.upstream.reply("/x", reply)
    await put(endpoints, kind, "POST")
    seconds = SHORT if code == "timeout" else None
    written = await endpoints.call("t", timeout=seconds)
    await endpoints.api("r", "/x")
    read = await endpoints.call("r", timeout=seconds)

    assert written.output.error is not None
    assert written.output.error.code == "outcome_unknown"
    assert written.call_id in written.output.text
    assert read.output.error is not None
    assert read.output.error.code == code
    record = await endpoints.recorded(written.call_id)
    assert (record.success, record.error["code"]) == (False, "outcome_unknown")


@pytest.mark.parametrize("kind", ["api", "package"])
async def test_a_write_that_was_surely_not_sent_has_failed(endpoints: Endpoints, kind: str) -> None:
    """Nobody listens there: it may be tried again."""
    await put(endpoints, kind, "POST", "http://127.0.0.1:1/x")

    outcome = await endpoints.call("t")

    assert outcome.output.error is not None
    assert outcome.output.error.code == "unreachable"


async def test_a_blocked_write_has_failed(endpoints: Endpoints) -> None:
    """The guard refuses before a byte is sent."""
    await endpoints.api("t", "https://10.0.0.1/x", method="POST")

    outcome = await endpoints.call("t")

    assert outcome.output.error is not None
    assert outcome.output.error.code == "blocked"


@pytest.mark.parametrize("status", [301, 400, 404, 500, 503])
async def test_an_answer_is_known_whatever_it_says(endpoints: Endpoints, status: int) -> None:
    """An upstream that answers has decided; what it decided is in the result."""
    endpoints.upstream.reply("/x", answer(status))
    await endpoints.package("t", "/x", method="POST")

    outcome = await endpoints.call("t")

    assert outcome.output.error is not None
    assert outcome.output.error.code == "upstream_error"
    assert str(status) in outcome.output.text


async def test_a_cancelled_write_is_recorded_as_unknown(endpoints: Endpoints) -> None:
    """Its caller has gone, but people who read the journal must know."""
    endpoints.upstream.reply("/x", hang())
    await endpoints.api("t", "/x", method="POST")
    going = asyncio.create_task(endpoints.call("t"))
    await endpoints.upstream.received()
    going.cancel()
    with pytest.raises(asyncio.CancelledError):
        await going

    await endpoints.crib.platform.storage.journal.flush()
    rows = (await endpoints.root.api.get("/api/v1/calls")).json()["items"]
    assert [row["error"]["code"] for row in rows] == ["outcome_unknown"]


async def test_one_post_is_one_request(endpoints: Endpoints) -> None:
    """Whatever goes wrong with a write, it is not sent again by itself."""
    endpoints.upstream.reply("/x", drop())
    await endpoints.api("t", "/x", method="PUT", body={"q": {"type": "string"}})

    await endpoints.call("t", q="once")

    assert [request.method for request in endpoints.upstream.requests] == ["PUT"]
