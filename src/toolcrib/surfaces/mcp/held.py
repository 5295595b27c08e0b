"""This module holds calls of the newer era while their client asks a person.

There a server cannot ask: it answers that input is required, and the client comes again with it. In
between the call goes on waiting here, in this process.
"""

from __future__ import annotations

import asyncio
import secrets
from collections import Counter
from collections.abc import Awaitable, Callable, Hashable, Mapping
from dataclasses import dataclass, field
from typing import Any, Final

from toolcrib.errors import CallRefused
from toolcrib.surfaces.mcp.answering import toolset_of
from toolcrib.surfaces.mcp.failures import INVALID_PARAMS, RpcError
from toolcrib.surfaces.mcp.served import Back, Served
from toolcrib.surfaces.mcp.wire import object_of

MOST: Final = 1024
"""How many calls may wait at once."""
MOST_OF_ONE: Final = 64
"""How many of them may be one user's: the next ends that user's oldest, and nobody else's."""
KEPT: Final = 60.0
"""Seconds for which the result of a call is kept that ended while nobody was there."""
_KEY: Final = "question"
"""What a question is called that its tool gives no name."""
Takes = Callable[[Mapping[str, Any]], bool]
"""Whether the client can put such a question."""
Run = Callable[[Back], Awaitable[dict[str, Any]]]


def _future() -> asyncio.Future[None]:
    return asyncio.get_running_loop().create_future()


@dataclass(kw_only=True, slots=True)
class _Call:
    owner: str
    who: Hashable
    name: str
    back: Back
    """The ways back of the request that waits for it now."""
    takes: Takes
    task: asyncio.Task[dict[str, Any]] = field(init=False)
    asked: asyncio.Future[None] = field(default_factory=_future)
    """Done when there is a question."""
    question: Mapping[str, Any] = field(default_factory=dict[str, Any])
    key: str = _KEY
    brought: dict[str, Any] = field(default_factory=dict[str, Any])
    """Answers that came before their questions."""
    answer: asyncio.Future[Mapping[str, Any]] | None = None

    async def ask(self, params: Mapping[str, Any], name: str) -> Mapping[str, Any]:
        if name and (brought := object_of(self.brought.pop(name, None))):
            return brought
        if not self.takes(params):
            raise CallRefused("The client cannot ask in that way.")
        self.answer = asyncio.get_running_loop().create_future()
        self.question, self.key = params, name or _KEY
        if not self.asked.done():
            self.asked.set_result(None)
        return await self.answer

    async def progress(self, done: float, total: float | None, message: str | None) -> None:
        await self.back.progress(done, total, message)

    async def log(self, level: str, data: Any, logger: str | None) -> None:
        await self.back.log(level, data, logger)


class Held:
    """By the state that a client gets with the question and brings back with the answer."""

    def __init__(self) -> None:
        self._waiting: dict[str, _Call] = {}

    async def begin(
        self, served: Served, name: str, back: Back, run: Run, *, takes: Takes, brought: object
    ) -> dict[str, Any]:
        """The result of the call, or that it requires input. `brought`: answers by the names of
        their questions, from a client that knows them already."""
        call = _Call(
            owner=served.owner,
            who=served.who,
            name=name,
            back=back,
            takes=takes,
            brought=dict(object_of(brought)),
        )
        ways = Back(progress=call.progress, log=call.log, ask=call.ask)
        call.task = asyncio.get_running_loop().create_task(_ran(run, ways))
        return await self._next(call)

    async def resume(
        self, served: Served, name: str, back: Back, params: Mapping[str, Any]
    ) -> dict[str, Any]:
        """The same for a call that waits for what the client brings. Raises RpcError for one that
        is not here: another client's, one that took too long, one of another process; and for a
        tool that is not offered any more, whose call ends then."""
        state = str(params.get("requestState"))
        call = self._waiting.get(state)
        if call is None or (call.owner, call.name) != (served.owner, name):
            words = "The call that waits for this answer is not known here, or not any more."
            raise RpcError(INVALID_PARAMS, words, {"code": "not_found", "where": "requestState"})
        del self._waiting[state]
        try:
            await _require(served, name)
        except BaseException:
            call.task.cancel()
            raise
        call.back = back
        call.asked = _future()
        answers = object_of(params.get("inputResponses"))
        given = object_of(answers.get(call.key))
        call.brought = {key: value for key, value in answers.items() if key != call.key}
        if call.answer is not None and not call.answer.done():
            if given:
                call.answer.set_result(given)
            else:
                call.answer.set_exception(CallRefused("The client did not answer the question."))
        return await self._next(call)

    def close(self) -> None:
        for call in self._waiting.values():
            call.task.cancel()
        self._waiting.clear()

    async def _next(self, call: _Call) -> dict[str, Any]:
        """Wait for the end of the call or for its next question."""
        try:
            waited = {call.task, call.asked}
            await asyncio.wait(waited, return_when=asyncio.FIRST_COMPLETED)
        except asyncio.CancelledError:  # the client is gone, and nobody will come again
            call.task.cancel()
            await asyncio.wait({call.task})
            raise
        return call.task.result() if call.task.done() else self._wait(call)

    def _wait(self, call: _Call) -> dict[str, Any]:
        self._make_room(call.who)
        state = secrets.token_urlsafe(24)
        self._waiting[state] = call
        call.task.add_done_callback(lambda _: self._forget_later(state))
        request = {"method": "elicitation/create", "params": dict(call.question)}
        return {
            "resultType": "input_required",
            "inputRequests": {call.key: request},
            "requestState": state,
        }

    def _make_room(self, who: Hashable) -> None:
        """End the oldest call of whoever has too many, or the most of too many in all."""
        waiting = Counter(call.who for call in self._waiting.values())
        crowded: Hashable = who
        if who is None or waiting[who] < MOST_OF_ONE:
            if len(self._waiting) < MOST:
                return
            ((crowded, _),) = waiting.most_common(1)
        state = next(state for state, call in self._waiting.items() if call.who == crowded)
        self._waiting.pop(state).task.cancel()

    def _forget_later(self, state: str) -> None:
        asyncio.get_running_loop().call_later(KEPT, self._waiting.pop, state, None)


async def _require(served: Served, name: str) -> None:
    """Raises RpcError for a tool that is not offered now."""
    tool = (await toolset_of(served)).find(name)
    if tool is None or tool.hold is not None:
        words = f"Unknown tool: {name}. It is not offered any more."
        raise RpcError(INVALID_PARAMS, words, {"code": "not_found"})


async def _ran(run: Run, back: Back) -> dict[str, Any]:
    return await run(back)
