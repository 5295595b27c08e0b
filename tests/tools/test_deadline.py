"""This module spends a call's deadline before the call."""

from __future__ import annotations

import asyncio

import pytest

from toolcrib.errors import CallTimeout
from toolcrib.identity.caller import Caller
from toolcrib.tools.call import Call
from toolcrib.tools.deadline import before_call


def a_call(deadline: float) -> Call:
    return Call(call_id="c1", arguments={}, caller=Caller(user_id=1), deadline=deadline)


async def test_the_call_has_what_is_left() -> None:
    """What came before took a part of it; everything else is the same call."""
    call = a_call(60)

    async def work() -> str:
        await asyncio.sleep(0.01)
        return "ready"

    result, rest = await before_call(call, work(), "the settings")
    assert result == "ready"
    assert 0 < rest.deadline <= 60 - 0.009
    assert (rest.call_id, rest.secrets is call.secrets, rest.exchange is call.exchange) == (
        "c1",
        True,
        True,
    )


async def test_what_is_never_ready_ends_at_the_deadline() -> None:
    """It is cancelled, and the call says what it waited for."""
    ended = asyncio.Event()

    async def work() -> None:
        try:
            await asyncio.Event().wait()
        finally:
            ended.set()

    with pytest.raises(CallTimeout, match=r"the settings were not ready within 0\.05 s"):
        await before_call(a_call(0.05), work(), "the settings")
    assert ended.is_set()


async def test_a_timeout_of_the_work_itself_is_its_own() -> None:
    """The database gave up, not the call."""

    async def work() -> None:
        raise TimeoutError("the database")

    with pytest.raises(TimeoutError, match="the database"):
        await before_call(a_call(60), work(), "the settings")
