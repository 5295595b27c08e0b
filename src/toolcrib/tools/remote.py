"""This module is the port to servers that Toolcrib itself connects to, to list and to call."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal, Protocol

from toolcrib.tools.call import Call
from toolcrib.tools.result import Output
from toolcrib.tools.source import Hold, Skip
from toolcrib.tools.spec import ToolSpec


@dataclass(frozen=True, kw_only=True, slots=True)
class ServerAsked:
    """A server as one user and group see it. `values` fill its placeholders."""

    ref: str
    """`mcp:<capability id>` or `package:<slug>`."""
    version: int
    label: str
    options: Mapping[str, Any] = field(repr=False)
    values: Mapping[str, str] = field(repr=False)
    user_id: int
    group_id: int | None


@dataclass(frozen=True, kw_only=True, slots=True)
class Trouble:
    """Why there is nothing (more), as a clause. `brief` says it to a model: the reason is for
    people, and may quote the server."""

    reason: str
    brief: str


@dataclass(frozen=True, kw_only=True, slots=True)
class ServerSeen:
    """What a server offers now."""

    tools: Sequence[ToolSpec] = ()
    skipped: Sequence[Skip] = ()
    """The tools that are left out, each under its own name."""
    warnings: Sequence[str] = ()
    trouble: Trouble | None = None
    call: Callable[[ToolSpec, Call], Awaitable[Output]] | None = field(default=None, repr=False)
    current: Callable[[str], ToolSpec | None] | None = field(default=None, repr=False)
    """A tool as the server defines it by now, as far as is known; never waits."""
    place: str | None = None
    """`host:port`, where it is at an address."""


ServerStatus = Literal["connecting", "connected", "failed", "disabled"]


@dataclass(frozen=True, kw_only=True, slots=True)
class ServerState:
    """How a server is, for people. `error` is `(code, sentence)`, masked."""

    ref: str
    label: str
    status: ServerStatus
    tools: Sequence[str] = ()
    error: tuple[str, str] | None = None
    checked_at: float | None = None
    """Seconds since 1970 of the last look."""
    specs: Sequence[ToolSpec] = field(default=(), repr=False)
    """The same tools with their definitions."""
    held: Mapping[str, Hold] = field(default_factory=dict[str, Hold])
    """Tools that are held back, and why."""


class Connector(Protocol):
    """Connects, keeps connections, and tells when what it showed is not so any more."""

    async def see(self, asked: ServerAsked) -> ServerSeen:
        """The tools, after waiting a moment for a server that is not known yet. Never raises
        for what the server does; InvalidOptions and the like for options that cannot be used."""
        ...

    async def state(self, asked: ServerAsked, *, refresh: bool = False) -> ServerState:
        """How the server is; `refresh` reads its list now and waits for it. Raises as `see`."""
        ...
