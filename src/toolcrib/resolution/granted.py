"""This module asks which codes of a user's private capability are granted to the user anyway.

A private row rearranges what others granted and grants nothing itself, so it counts for a code
only while a live row of the installation or of one of the user's groups names the code too.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from toolcrib.catalog.capabilities import Capability, CapabilityStore, Reach
from toolcrib.identity.caller import Caller
from toolcrib.identity.roles import Role
from toolcrib.resolution.toolset import Absence


async def ungranted(
    codes: Sequence[str], caller: Caller, capabilities: CapabilityStore
) -> list[str]:
    """The codes that nobody granted the caller. An admin's own rows need nobody's grant."""
    if caller.role is not Role.USER:
        return []
    reach = Reach(group_ids=caller.group_ids)
    missing: list[str] = []
    for code in codes:
        rows = await capabilities.list(reach=reach, code=code)
        if not any(row.type == "internal" for row in rows):
            missing.append(code)
    return missing


async def narrowed(
    rows: Sequence[Capability], caller: Caller, capabilities: CapabilityStore
) -> tuple[list[Capability], list[Absence]]:
    """The rows with private ones cut to what is still granted, and what was cut."""
    kept: list[Capability] = []
    absences: list[Absence] = []
    for row in rows:
        codes = row.codes if _rearranges(row, caller) else ()
        missing = await ungranted(codes, caller, capabilities)
        absences += [_lost(row, code) for code in missing]
        left = [code for code in row.codes if code not in missing]
        if left:
            kept.append(replace(row, code=",".join(left)) if missing else row)
    return kept, absences


def _rearranges(row: Capability, caller: Caller) -> bool:
    own = row.access_type == "private" and row.owner_id == caller.user_id
    return own and row.type == "internal" and not row.archived and row.id > 0


def _lost(row: Capability, code: str) -> Absence:
    return Absence(
        stage="grant",
        ref=f"capability:{row.id}",
        reason=f"nobody grants you the code {code!r} any more, and a private capability cannot",
        fix="Ask an admin of your group to activate it.",
        code=code,
    )
