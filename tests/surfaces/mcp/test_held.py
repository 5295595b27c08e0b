"""Calls that wait for a person: each user has a share of the places, and takes nobody else's."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator
from dataclasses import dataclass
from typing import Any

import pytest

from tests.surfaces.mcp.test_pages import tool
from toolcrib.invocation.flight import Outcome
from toolcrib.resolution.toolset import Toolset
from toolcrib.surfaces.mcp.failures import INVALID_PARAMS, RpcError
from toolcrib.surfaces.mcp.held import MOST, MOST_OF_ONE, Held
from toolcrib.surfaces.mcp.served import SILENT, Back


@dataclass(frozen=True)
class Of:
    """What one user is served."""

    who: str | None
    offers: bool = True
    label = "tools"

    @property
    def owner(self) -> str:
        return f"owner {self.who}"

    key = owner

    async def toolset(self) -> Toolset:
        return Toolset(tools={"asks": tool("asks")} if self.offers else {})

    async def now(self) -> Of:
        return self

    async def call(self, name: str, arguments: object, back: Back) -> Outcome:
        raise AssertionError("the call is made by `run`")


@pytest.fixture
async def held() -> AsyncGenerator[Held]:
    held = Held()
    yield held
    held.close()


async def ask(held: Held, who: str | None) -> str:
    """Begin a call that asks. The state that its client brings back."""

    async def run(back: Back) -> dict[str, Any]:
        assert back.ask is not None
        return dict(await back.ask({"message": "Which town?"}, "town"))

    asked = await held.begin(Of(who), "asks", SILENT, run, takes=lambda _: True, brought=None)
    assert asked["resultType"] == "input_required"
    return asked["requestState"]


async def answered(held: Held, who: str | None, state: str) -> bool:
    answer = {"action": "accept"}
    params = {"requestState": state, "inputResponses": {"town": answer}}
    try:
        return await held.resume(Of(who), "asks", SILENT, params) == answer
    except RpcError:
        return False


async def test_who_asks_too_much_loses_their_own_oldest_call(held: Held) -> None:
    other = await ask(held, "Ann")
    states = [await ask(held, "Bob") for _ in range(MOST_OF_ONE + 2)]
    kept = [await answered(held, "Bob", state) for state in states]
    assert kept == [False, False] + [True] * MOST_OF_ONE
    assert await answered(held, "Ann", other)


async def test_a_crowd_costs_whoever_has_most(held: Held) -> None:
    """When all places are taken, it is not the oldest call of all that ends."""
    first = await ask(held, "Ann")
    crowd = MOST // MOST_OF_ONE
    states = {n: [await ask(held, f"user {n}") for _ in range(MOST_OF_ONE)] for n in range(crowd)}
    assert await answered(held, "Ann", first)
    gone = [
        state for n in states for state in states[n] if not await answered(held, f"user {n}", state)
    ]
    assert gone == [states[0][0]]


async def test_where_nobody_is_told_from_another_all_places_are_theirs(held: Held) -> None:
    states = [await ask(held, None) for _ in range(MOST_OF_ONE + 1)]
    assert await answered(held, None, states[0])


async def test_a_state_is_of_use_to_its_owner_alone(held: Held) -> None:
    state = await ask(held, "Ann")
    assert not await answered(held, "Bob", state)
    assert await answered(held, "Ann", state)


async def test_a_tool_that_is_gone_gets_no_answer(held: Held) -> None:
    """Its call ends where it waits, and the client hears what it hears of any unknown tool."""
    ended = asyncio.Event()

    async def run(back: Back) -> dict[str, Any]:
        assert back.ask is not None
        try:
            return dict(await back.ask({"message": "Which town?"}, "town"))
        except asyncio.CancelledError:
            ended.set()
            raise

    who = Of("Ann")
    asked = await held.begin(who, "asks", SILENT, run, takes=lambda _: True, brought=None)
    params = {"requestState": asked["requestState"], "inputResponses": {"town": {"action": "x"}}}
    with pytest.raises(RpcError, match="Unknown tool: asks") as caught:
        await held.resume(Of("Ann", offers=False), "asks", SILENT, params)
    assert caught.value.code == INVALID_PARAMS
    await asyncio.wait_for(ended.wait(), 60)
    with pytest.raises(RpcError, match="not known here"):
        await held.resume(who, "asks", SILENT, params)
