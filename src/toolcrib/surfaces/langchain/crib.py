"""This module says what the tools of a LangChain agent need of Toolcrib, stored or bare."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Protocol

from toolcrib.catalog.capabilities import Capability
from toolcrib.identity.caller import Caller
from toolcrib.invocation.flight import Outcome, Request
from toolcrib.resolution.toolset import Absence, Toolset
from toolcrib.surfaces.langchain.configurable import Asker
from toolcrib.surfaces.langchain.given import Given


@dataclass(frozen=True, kw_only=True, slots=True)
class Rows:
    """Capability rows in the order they were given, and what is not among them."""

    rows: Sequence[Capability]
    absences: Sequence[Absence] = ()


class Crib(Protocol):
    """One way to answer: `PlatformCrib` by a database with grants, `BareCrib` without either."""

    @property
    def allow_langsmith(self) -> bool: ...

    def version(self) -> tuple[int, ...]:
        """Numbers of which one rises with every change that could change an answer."""
        ...

    async def ready(self) -> None:
        """Raises SetupError when a thread that waits for an answer would wait for ever."""
        ...

    async def caller(self, asker: Asker) -> Caller:
        """Raises NotFound, NotGranted, GroupRequired or InvalidRequest for who cannot ask."""
        ...

    async def rows(self, given: Sequence[Given], caller: Caller) -> Rows: ...

    def refusal(self, row: Capability, caller: Caller) -> Absence | None:
        """Why the caller may not use the row; None when they may."""
        ...

    async def toolset(self, rows: Sequence[Capability], caller: Caller, asker: Asker) -> Toolset:
        """The tools of these rows."""
        ...

    async def values(self, row: Capability, caller: Caller, asker: Asker) -> Mapping[str, str]:
        """The settings that the row wants and that have a value. Raises SecretUndecryptable."""
        ...

    async def login(self, row: Capability, caller: Caller) -> str | None:
        """The access token for the row's server; None where it wants no login. Raises
        NotConnected, SourceError."""
        ...

    async def invoke(self, request: Request) -> Outcome: ...
