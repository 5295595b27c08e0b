"""This module is the port to one open conversation, whatever it is spoken through."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, Protocol

from toolcrib.errors import SourceError
from toolcrib.tools.call import AskPerson, Log
from toolcrib.tools.result import ErrorCode

Progress = Callable[[float, float | None, str | None], Awaitable[None]]
HeaderMap = Mapping[tuple[str, ...], str]
"""Which arguments of a tool go into which headers, by their paths."""


class Refused(SourceError):
    """The server answered a request with an error of its own. The request did arrive."""

    def __init__(
        self,
        message: str,
        *,
        rpc_code: int,
        code: ErrorCode = "upstream_error",
        status: int | None = None,
    ) -> None:
        super().__init__(message, sent=True)
        self.rpc_code = rpc_code
        self.kind: ErrorCode = code
        if code in {"not_granted", "secret_missing"}:
            self.brief = "the server wants a login"
        self.status = status
        """The status of an HTTP answer that was no JSON-RPC at all."""


class SessionLost(SourceError):
    """The server does not know the session any more, so it did not do what was asked."""


class HeadersRefused(SourceError):
    """The server wants other headers with the arguments, so it did not do what was asked."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Ask:
    """One call of a tool by its original name. `timeout` in seconds."""

    name: str
    arguments: Mapping[str, Any] = field(repr=False)
    timeout: float
    progress: Progress | None = None
    log: Log | None = None
    person: AskPerson | None = None
    """Puts a question to whoever made the call; None: nobody can be asked."""
    more: Mapping[str, Any] = field(default_factory=dict[str, Any], repr=False)
    """Further parameters: the input that the server asked for."""
    unanswered: list[str] = field(default_factory=list[str], repr=False)
    """What the server asked in vain."""
    input_schema: Mapping[str, Any] = field(default_factory=dict[str, Any], repr=False)


class Conversation(Protocol):
    """Calls may be made at once and from any task; one that is cancelled ends alone."""

    @property
    def ready(self) -> asyncio.Future[None]:
        """Done when calls can be made; fails with a ToolcribError when they never can."""
        ...

    @property
    def is_over(self) -> bool: ...

    @property
    def tells(self) -> bool:
        """Whether the server said that it tells of changes of its list."""
        ...

    async def run(self) -> None:
        """Open, serve until closed or gone, close. Never raises."""
        ...

    def close(self) -> None: ...

    def retire(self) -> None:
        """Close when the last call in flight has its answer."""
        ...

    async def page(self, cursor: str | None, timeout: float) -> Mapping[str, Any]:  # noqa: ASYNC109
        """One page of the list of tools, as it came. Raises SourceError."""
        ...

    async def call(self, ask: Ask) -> Mapping[str, Any]:
        """The result, as it came.

        Raises Refused, SessionLost, HeadersRefused; other SourceErrors say in `sent` whether the
        call may have arrived.
        """
        ...
