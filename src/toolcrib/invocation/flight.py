"""This module holds what is known of one call while it goes through the steps."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

from toolcrib.identity.caller import Caller
from toolcrib.resolution.toolset import ResolvedTool
from toolcrib.tools.call import AskPerson, Exchange, Log, Progress, no_log, no_progress
from toolcrib.tools.record import no_values, record
from toolcrib.tools.result import Output


def _no_secrets() -> set[str]:
    return set()


@record
class Request:
    """What a surface asks: run this tool with these arguments for this caller."""

    tool: ResolvedTool
    caller: Caller
    arguments: object
    agent_id: int | None = None
    surface: str = "python"
    timeout: float | None = None
    """Seconds; the installation's deadline when None, and never more than it."""
    progress: Progress = no_progress
    log: Log = no_log
    ask: AskPerson | None = None
    configurable: Mapping[str, Any] = field(default_factory=no_values)


@dataclass(kw_only=True, slots=True)
class Flight:
    """One call on its way. Steps fill it in; nothing outside the loop sees it."""

    request: Request
    call_id: str
    started_at: datetime
    began: float
    """The clock when it began, in seconds."""
    arguments: dict[str, Any] = field(default_factory=no_values)
    secrets: set[str] = field(default_factory=_no_secrets, repr=False)
    exchange: Exchange = field(default_factory=Exchange)
    trials: tuple[str, ...] = ()
    """The open circuits that this call was let through to try."""
    recorded: bool = False


@record
class Outcome:
    """What a surface gets back: the output, and the call's id and length."""

    call_id: str
    tool: str
    ref: str
    arguments: Mapping[str, Any]
    output: Output
    duration_ms: float

    @property
    def success(self) -> bool:
        return self.output.success
