"""This module says what is asked of a tool: one Call, from one Caller, before one deadline."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from contextvars import ContextVar
from dataclasses import dataclass, field
from typing import Any

from toolcrib.identity.caller import Caller
from toolcrib.tools.record import no_values, record

Progress = Callable[[float, float | None, str | None], Awaitable[None]]
"""`await progress(done, total, message)`."""


Log = Callable[[str, Any, str | None], Awaitable[None]]
"""`await log(level, data, logger)`; the levels are those of syslog."""
AskPerson = Callable[[Mapping[str, Any], str], Awaitable[Mapping[str, Any]]]
"""`await ask(params, name)`: the parameters of an MCP elicitation in, its result out; `name` is
what the tool calls the question, empty where it has none.

Raises CallRefused when whoever made the call cannot ask anybody.
"""


async def no_progress(done: float, total: float | None, message: str | None) -> None:
    """Nobody is watching."""


async def no_log(level: str, data: Any, logger: str | None) -> None:
    """Nobody is reading."""


def _no_secrets() -> set[str]:
    return set()


@dataclass(kw_only=True, slots=True)
class Exchange:
    """What passes between a call and its upstream, told by the source while it happens.

    A tool that has no upstream leaves it as it is.
    """

    sent: bool = False
    """A request may be on its way, whole or in part."""
    answered: bool = False
    """Its answer came, whole."""
    failing: bool = False
    """The upstream could not be reached, broke off, or said itself that it failed (HTTP 5xx)."""

    unreached: bool = False
    """It was not even connected to: whoever goes there would find the same."""

    def mark_sent(self) -> None:
        self.sent = True

    @property
    def unknown(self) -> bool:
        """Whether the upstream may have done what was asked, and nobody can tell."""
        return self.sent and not self.answered


@record
class Call:
    """One request to run one tool. `deadline` is in seconds from the start."""

    call_id: str
    arguments: Mapping[str, Any]
    caller: Caller
    deadline: float
    agent_id: int | None = None
    """The agent that it came through; None where tools are used without one."""
    progress: Progress = no_progress
    log: Log = no_log
    ask: AskPerson | None = None
    """Puts a question of the tool's to the person behind the call; None: there is no way to."""
    secrets: set[str] = field(default_factory=_no_secrets, repr=False)
    """Values that were resolved for this call; whatever leaves is searched for them."""
    exchange: Exchange = field(default_factory=Exchange)
    checked: bool = False
    """The tool's own checker has seen the arguments."""
    configurable: Mapping[str, Any] = field(default_factory=no_values)
    """Further values of a LangChain `configurable` that the tool may read."""


current_call: ContextVar[Call | None] = ContextVar("toolcrib_current_call", default=None)
"""The call that runs in this task: what the plugin host uses to keep documents in their chat."""
