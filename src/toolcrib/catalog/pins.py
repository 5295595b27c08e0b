"""This module holds the pin: one definition of one tool, and whether people have accepted it.

A tool may have several pins: what it is, what it wants to become, what it was. A hold is on a
definition, so whoever still sees the accepted one keeps it.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any, Literal, Protocol

from toolcrib.tools.canonical import digest
from toolcrib.tools.provenance import Provenance
from toolcrib.tools.source import KindName
from toolcrib.tools.spec import ToolSpec

PinState = Literal["accepted", "held", "retired", "released"]
"""`retired`: another one was accepted in its place. `released`: its owner changed the definition on
purpose, so the next one is accepted in their name."""
How = Literal["first sight", "policy", "owner", "code", "person", "lock", "changed", "new"]
"""What decided: the first five and `lock` accept, the last two hold."""
BEHIND = "source"
"""The key of a definition that says what stands behind the tool."""
OF_CAPABILITIES = frozenset({"api", "mcp", "openapi"})
"""Kinds whose definitions are a capability's: the same code may be another tool elsewhere."""
MOST_OF_A_TOOL = 20
"""Held and retired pins that are kept of one tool: a server may change at every look."""
MOST_OF_A_SOURCE = 25_000
"""Definitions that are kept of one source: a server may make up new names at every look."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Pin:
    """One definition of a tool. `source` and `name` say whose it is, `ref` is what people read."""

    id: int
    source: str
    name: str
    ref: str
    fingerprint: str
    definition: Mapping[str, Any] = field(repr=False)
    state: PinState
    how: How
    summary: str = ""
    """In what it differs from the accepted one, without a word of its own."""
    seen_at: datetime
    decided_at: datetime | None = None
    decided_by: int | None = None
    """The user who decided; None where a rule did."""

    @property
    def key(self) -> str:
        """`<source>/<name>`: never another tool's, which a ref may be."""
        return f"{self.source}/{self.name}"


@dataclass(frozen=True, kw_only=True, slots=True)
class Sighting:
    """A definition as a source shows it now."""

    source: str
    name: str
    ref: str
    fingerprint: str
    definition: Mapping[str, Any] = field(repr=False)
    version: int | None = None
    """Of the row that the definition was read from; None where it stands in no row."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Decision:
    """What becomes of a sighting."""

    state: Literal["accepted", "held"]
    how: How
    summary: str = ""
    decided_by: int | None = None


Judge = Callable[[Sequence[Pin], Sighting], Decision]
"""Decides about a definition that is not accepted, from the pins of its tool, oldest first."""


@dataclass(frozen=True, kw_only=True, slots=True)
class PinMark:
    """What a listing needs to know of a pin: no definition, for there may be thousands."""

    name: str
    fingerprint: str
    state: PinState
    how: How
    summary: str
    decided_at: datetime | None


class PinStore(Protocol):
    """Pins by their tool."""

    async def marks(self, sources: Collection[str]) -> Mapping[str, Sequence[PinMark]]:
        """The accepted and the held ones of each of these sources."""
        ...

    async def settle(self, sightings: Sequence[Sighting], judge: Judge) -> None:
        """Write down what the judge decides about each; those of one source in one transaction.
        No tool is there twice.

        Processes that settle one source at a time wait for each other, so that of two first
        sights one is the first. Raises Conflict, and decides nothing about a source, when its row
        has another version by now: what was read is no more the definition.
        """
        ...

    async def list(
        self,
        *,
        states: Collection[PinState] = ("accepted", "held"),
        sources: Collection[str] | None = None,
        ref: str | None = None,
        after: int = 0,
        limit: int = 200,
    ) -> Sequence[Pin]:
        """By id. `sources` narrows to these; `ref` is a tool's ref or key."""
        ...

    async def accept(
        self, pin: Pin, *, how: How, user_id: int | None, keeps_others: bool = False
    ) -> Pin:
        """Accept a held or retired pin; the tool's other accepted ones retire unless kept.

        Raises Conflict when it is no more what it was.
        """
        ...

    async def add_accepted(
        self, sightings: Sequence[Sighting], *, how: How, user_id: int | None
    ) -> None:
        """Accept definitions that nobody may have seen yet; the tools' other ones retire."""
        ...

    async def forget(
        self, source: str, *, name: str | None = None, fingerprint: str | None = None
    ) -> int:
        """Delete the pins of a source, of one of its tools, or one of them; how many there were."""
        ...


def source_of(kind: KindName, code: str, capability_id: int | None) -> str | None:
    """Whose definition it is: `mcp:<capability id>`, `native:<code>`; None for rows not stored."""
    if kind not in OF_CAPABILITIES:
        return f"{kind}:{code}"
    return f"{kind}:{capability_id}" if capability_id is not None and capability_id > 0 else None


def sighting_of(
    source: str,
    spec: ToolSpec,
    ref: str,
    provenance: Provenance | None,
    *,
    version: int | None = None,
) -> Sighting:
    """Raises TypeError for a definition that is no JSON."""
    shown = dict(spec.definition)
    if provenance is not None:
        shown[BEHIND] = dict(provenance.facts)
    return Sighting(
        source=source,
        name=spec.name,
        ref=ref,
        fingerprint=fingerprint_of(spec, provenance),
        definition=shown,
        version=version,
    )


def fingerprint_of(spec: ToolSpec, provenance: Provenance | None) -> str:
    """A hash of the definition and of what stands behind it. Each half is computed once."""
    if provenance is None:
        return spec.fingerprint
    return _joined(spec.fingerprint, provenance.fingerprint)


def fingerprint_of_definition(definition: Mapping[str, Any]) -> str:
    """The same for a definition that was written down."""
    shown = {key: value for key, value in definition.items() if key != BEHIND}
    behind = definition.get(BEHIND)
    return digest(shown) if behind is None else _joined(digest(shown), digest(behind))


def _joined(shown: str, behind: str) -> str:
    return f"sha256:{hashlib.sha256(f'{shown} {behind}'.encode()).hexdigest()}"
