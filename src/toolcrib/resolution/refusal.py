"""This module words why a capability of an agent brings nothing at all."""

from __future__ import annotations

from toolcrib.catalog.capabilities import Capability
from toolcrib.grants.decide import decide, of_capability
from toolcrib.identity.caller import Caller
from toolcrib.resolution.toolset import Absence


def refusal(row: Capability, caller: Caller, *, agent_id: int | None = None) -> Absence | None:
    """Why the caller may not use the row, reached through the agent; None when they may."""
    if row.archived:
        return Absence(
            stage="capability",
            ref=f"capability:{row.id}",
            reason="the capability is archived",
            fix="Take it off the agent, or restore it.",
            code=row.code,
        )
    verdict = decide(caller, "use", of_capability(row, agent_id=agent_id))
    if verdict:
        return None
    return Absence(
        stage="grant",
        ref=f"capability:{row.id}",
        reason=f"you may not use this capability: {verdict.reason}",
        fix="Ask its owner or an admin of its group.",
        code=row.code,
    )


def gone(capability_id: int) -> Absence:
    """For an id that an agent names and no row has."""
    return Absence(
        stage="capability",
        ref=f"capability:{capability_id}",
        reason="the capability does not exist any more",
        fix="Take it off the agent.",
    )


def no_provider(row: Capability) -> Absence:
    """For a row of a type that nothing here can read."""
    return Absence(
        stage="source",
        ref=f"capability:{row.id}",
        reason=f"this installation has no source for capabilities of type {row.type!r}",
        fix="Use a capability of type internal.",
        code=row.code,
    )
