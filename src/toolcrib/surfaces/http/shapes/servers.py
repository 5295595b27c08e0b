"""This module shapes MCP servers and how they are."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Literal

from toolcrib.surfaces.http.shapes.fields import Moment, Row
from toolcrib.tools.remote import ServerState


class ServerErrorRow(Row):
    code: str
    message: str


class HeldRow(Row):
    """A tool that waits until a person accepts its definition."""

    tool: str
    reason: str
    fix: str


class ServerRow(Row):
    ref: str
    label: str
    status: Literal["connecting", "connected", "failed", "disabled"]
    tools: list[str]
    error: ServerErrorRow | None
    checked_at: Moment | None
    held: list[HeldRow]

    @classmethod
    def of(cls, state: ServerState) -> ServerRow:
        error = state.error
        at = state.checked_at
        return cls(
            ref=state.ref,
            label=state.label,
            status=state.status,
            tools=list(state.tools),
            error=error and ServerErrorRow(code=error[0], message=error[1]),
            checked_at=None if at is None else datetime.fromtimestamp(at, UTC),
            held=[
                HeldRow(tool=name, reason=hold.reason, fix=hold.fix)
                for name, hold in state.held.items()
            ],
        )
