"""This module holds the Toolset: what one caller gets, and why the rest is not there."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, Literal

from toolcrib.tools.call import Call
from toolcrib.tools.private import private_names
from toolcrib.tools.result import Output
from toolcrib.tools.source import Checker, Hold, KindName, Preview, Skip
from toolcrib.tools.spec import ToolSpec

Stage = Literal[
    "agent",
    "capability",
    "grant",
    "code",
    "condition",
    "setting",
    "source",
    "selection",
    "name",
    "hold",
]


@dataclass(frozen=True, kw_only=True)
class ResolvedTool:
    """One tool as this caller sees it. It carries its own call path; its name is never split."""

    name: str
    ref: str
    spec: ToolSpec
    kind: KindName
    code: str
    capability_id: int | None
    origin: str
    run: Callable[[Call], Awaitable[Output]] = field(repr=False)
    checker: Checker = field(repr=False)
    preview: Callable[[Mapping[str, Any]], Awaitable[Preview | None]] | None = field(
        default=None, repr=False
    )
    upstream: str | None = None
    """Where its calls go, where that is one place: those who name the same share its outages."""
    prompt: bool = False
    """`run` ends by the deadline, and at once when it is cancelled: it needs no guard."""
    original: object = field(default=None, repr=False)
    """The Python object that the tool was made of, where there is one."""
    forward: Forward | None = field(default=None, repr=False)
    """Set where the tool calls others."""
    hold: Hold | None = None
    """Set where its definition must be accepted first: it is not shown, and its calls say so."""

    @cached_property
    def private(self) -> frozenset[str]:
        """Arguments that no record shows."""
        return private_names(self.checker.schema)

    @cached_property
    def input_schema(self) -> Mapping[str, Any]:
        return self.checker.schema


Forward = Callable[[object], tuple[ResolvedTool, object] | None]
"""Arguments in; the tool that they mean and its arguments out, None when they mean none."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Absence:
    """A skip, with the stage that decided and the tool's name where there is one."""

    stage: Stage
    ref: str
    reason: str
    fix: str = ""
    tool: str | None = None
    code: str | None = None
    brief: str = ""
    """The reason for a model, where `reason` may quote somebody else: our words alone."""

    def as_skip(self) -> Skip:
        return Skip(ref=self.ref, reason=self.reason, fix=self.fix)


@dataclass(frozen=True, kw_only=True)
class Toolset:
    """The tools by their exposed names, in order; immutable, shared by everyone who may see it."""

    tools: Mapping[str, ResolvedTool]
    absences: Sequence[Absence] = ()
    delegations: Sequence[Mapping[str, Any]] = ()
    offered_instead: Mapping[str, ResolvedTool] = field(default_factory=dict[str, ResolvedTool])
    """The tools that find and call the others, where there are too many to show."""
    held: Mapping[str, ResolvedTool] = field(default_factory=dict[str, ResolvedTool])
    """Tools that keep their names and are held back: never shown; a call of one is answered so."""

    @property
    def offered(self) -> Mapping[str, ResolvedTool]:
        """What a model is shown: the tools, or those that find and call them."""
        return self.offered_instead or self.tools

    def find(self, name: str) -> ResolvedTool | None:
        """The tool that a call of this name means: shown ones first, then all, then held ones."""
        return self.offered_instead.get(name) or self.tools.get(name) or self.held.get(name)

    @cached_property
    def skipped(self) -> tuple[Skip, ...]:
        return tuple(absence.as_skip() for absence in self.absences)
