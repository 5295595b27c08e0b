"""This module shapes pins: what a tool was accepted as, what waits, and how the two differ."""

from __future__ import annotations

from typing import Annotated, Any, Literal

from pydantic import Field

from toolcrib.catalog.changes import Change
from toolcrib.catalog.lookalikes import SAYS, Lookalikes
from toolcrib.desk.pins import PinDiff
from toolcrib.desk.pins_looking import LockApplied, Looked
from toolcrib.surfaces.http.shapes.fields import Body, JsonObject, Mirror, Moment, Row

DEFINITION = Field(
    description="The definition as its source wrote it; `source` says what stands behind it.",
    json_schema_extra={"type": "object"},
)
"""Any JSON object: keys and texts may hold what no text of ours may, such as half characters."""


class PinRow(Mirror):
    id: int
    key: str
    ref: str
    source: str
    name: str
    fingerprint: str
    state: Literal["accepted", "held", "retired", "released"]
    how: str
    summary: str
    seen_at: Moment
    decided_at: Moment | None
    decided_by: int | None
    definition: Annotated[Any, DEFINITION]


class PinChangeRow(Row):
    """`before` and `after` have hidden characters spelled out; `words` are a text's pieces."""

    kind: str
    where: str
    says: str
    before: Any
    after: Any
    words: list[Any]

    @classmethod
    def of(cls, change: Change) -> PinChangeRow:
        return cls.model_validate(change.as_json())


class PinDiffRow(Row):
    ref: str
    key: str
    fingerprint: str
    state: str
    accepted: str | None
    """The fingerprint that it is compared with."""
    changes: list[PinChangeRow]
    definition: Annotated[Any, DEFINITION]

    @classmethod
    def of(cls, diff: PinDiff) -> PinDiffRow:
        return cls(
            ref=diff.pin.ref,
            key=diff.pin.key,
            fingerprint=diff.pin.fingerprint,
            state=diff.pin.state,
            accepted=diff.base and diff.base.fingerprint,
            changes=[PinChangeRow.of(one) for one in diff.changes],
            definition=dict(diff.pin.definition),
        )


class AcceptBody(Body):
    keep_others: bool = False
    """Keep what was accepted before as well: the tool shows different people different ones."""


class LockBody(Body):
    tools: Annotated[JsonObject, Field(description="`tools` of a tools.lock.")]


class LockAppliedRow(Row):
    accepted: list[str]
    unknown: list[str]

    @classmethod
    def of(cls, applied: LockApplied) -> LockAppliedRow:
        return cls(accepted=list(applied.accepted), unknown=list(applied.unknown))


class LookedRow(Row):
    tools: int
    held: int
    skipped: list[JsonObject]

    @classmethod
    def of(cls, looked: Looked) -> LookedRow:
        skipped = [dict(absence.as_skip().as_json()) for absence in looked.absences]
        return cls(tools=looked.tools, held=looked.held, skipped=skipped)


class AlikeRow(Row):
    key: str
    ref: str
    name: str


class LookalikesRow(Row):
    kind: str
    says: str
    similarity: float
    tools: list[AlikeRow]

    @classmethod
    def of(cls, found: Lookalikes) -> LookalikesRow:
        tools = [AlikeRow(key=pin.key, ref=pin.ref, name=pin.name) for pin in found.pins]
        return cls(kind=found.kind, says=SAYS[found.kind], similarity=found.similarity, tools=tools)
