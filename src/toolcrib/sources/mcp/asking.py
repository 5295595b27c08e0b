"""This module carries what a server says and asks during a call back to whoever made the call.

Servers of the older era ask by a request of their own, which has to be matched with the call that
it belongs to; those of the newer one answer that they need input and are called again with it.
Questions to a person pass; to a model, or for folders, they are refused.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Generator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import replace
from typing import TYPE_CHECKING, Any, Final, cast

from toolcrib.errors import CallRefused, SourceProtocolError
from toolcrib.sources.mcp.conversation import Ask

if TYPE_CHECKING:
    import mcp_types as types

MOST_ROUNDS: Final = 16
"""How often a server may answer one call with further questions."""
NOBODY: Final = "nobody can be asked from where the call was made"
_current: ContextVar[Ask | None] = ContextVar("toolcrib_mcp_ask", default=None)


class Unanswered(CallRefused):
    """A tool asked for input, and nobody could be asked."""

    code = "tool_error"

    def __init__(self, name: str) -> None:
        super().__init__(f"{name} asks for input from a person, and {NOBODY}.")


class Voices:
    """Knows the calls in flight on one connection, so that each hears what is meant for it."""

    def __init__(self) -> None:
        self._calls: list[Ask] = []

    @contextmanager
    def of(self, ask: Ask) -> Generator[None]:
        """While it is entered, the call is in flight. Raises Unanswered if it asked in vain."""
        self._calls.append(ask)
        token = _current.set(ask)
        try:
            yield
        finally:
            _current.reset(token)
            self._calls.remove(ask)

    async def elicit(
        self, context: object, params: types.ElicitRequestParams
    ) -> types.ElicitResult | types.ErrorData:
        """The answer to a question that came as a request."""
        import mcp_types as types  # noqa: PLC0415 - heavy; a server that asks has loaded it long since

        ask = self._meant()
        if ask is None or ask.person is None:
            if ask is not None:
                ask.unanswered.append(params.message)
            return types.ErrorData(code=types.INVALID_REQUEST, message=f"Sorry: {NOBODY}.")
        given = params.model_dump(by_alias=True, mode="json", exclude_none=True)
        try:
            return types.ElicitResult.model_validate(await ask.person(given, ""))
        except CallRefused as error:
            ask.unanswered.append(params.message)
            return types.ErrorData(code=types.INVALID_REQUEST, message=error.message)

    async def log(self, params: types.LoggingMessageNotificationParams) -> None:
        """Hand on a log line to the call that it belongs to; where that is unclear, to all."""
        ask = self._meant()
        for one in [ask] if ask is not None else list(self._calls):
            if one.log is not None:
                await one.log(params.level, params.data, params.logger)

    def _meant(self) -> Ask | None:
        """The call in whose context a message came; over one pipe for all, the only one."""
        current = _current.get()
        if current is not None and any(one is current for one in self._calls):
            return current
        return self._calls[0] if len(self._calls) == 1 else None


async def with_input(
    ask: Ask, sent: Callable[[Ask], Awaitable[Mapping[str, Any]]]
) -> Mapping[str, Any]:
    """The result, after asking for whatever input the server wants first.

    Raises Unanswered when nobody can be asked, SourceProtocolError for a server that never stops.
    """
    raw = await sent(ask)
    for _ in range(MOST_ROUNDS):
        if raw.get("resultType") != "input_required":
            return raw
        more: dict[str, Any] = {"inputResponses": await _answers(ask, raw)}
        if isinstance(raw.get("requestState"), str):
            more["requestState"] = raw["requestState"]
        raw = await sent(replace(ask, more=more))
    raise SourceProtocolError(f"The server asked for input {MOST_ROUNDS} times.", sent=True)


async def _answers(ask: Ask, raw: Mapping[str, Any]) -> Mapping[str, Any]:
    requests: object = raw.get("inputRequests", {})
    if not isinstance(requests, dict):
        raise SourceProtocolError("The server's request for input is malformed.", sent=True)
    answers: dict[str, Any] = {}
    for key, given in cast("dict[str, Any]", requests).items():
        request = cast("dict[str, Any]", given) if isinstance(given, dict) else {}
        if request.get("method") != "elicitation/create" or ask.person is None:
            raise Unanswered(ask.name)
        try:
            answers[key] = await ask.person(request.get("params") or {}, key)
        except CallRefused:
            raise Unanswered(ask.name) from None
    return answers
