"""This module says why a name that is called is no tool: which server that is away has it, or may.

A caller who was shown the tool a moment ago learns that its server is in trouble, and of which
kind. Models read this, so no server says it in its own words.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from urllib.parse import quote

from toolcrib.errors import NotFound
from toolcrib.resolution.naming import Original
from toolcrib.resolution.telling import briefly
from toolcrib.resolution.toolset import Absence, Toolset

_AWAY = frozenset({"source", "setting"})
"""Stages at which a source is missing that may be there again later."""
_MOST = 5


def no_tool(agent_id: int, name: str, toolset: Toolset, known: Mapping[Original, str]) -> NotFound:
    """The error for a call of this name. `known`: every name that was given on this agent."""
    sources = {source for (source, _), given in known.items() if given == name}
    absences = [one for one in toolset.absences if one.stage in _AWAY]
    its = [one for one in absences if one.tool == name or _source_of(one) in sources]
    message = f"Agent {agent_id} has no tool {name!r} for you"
    if its:
        message += f" now: it is one of {_told(its)}"
    elif away := [one for one in absences if _is_whole(one)]:
        message += f". It may be one of those that are not available now: {_told(away)}"
    return NotFound(
        f"{message}.",
        hint=f"GET /api/v1/explain?agent={agent_id}&tool={quote(name, safe='')} says why.",
    )


def _source_of(absence: Absence) -> str:
    return absence.ref.partition("/")[0]


def _is_whole(absence: Absence) -> bool:
    """Whether all of a source is missing, not one tool that it lists."""
    return absence.tool is None or absence.ref.startswith("package:")


def _told(absences: Sequence[Absence]) -> str:
    lines = briefly(absences)
    told = lines[:_MOST]
    if len(lines) > _MOST:
        told.append(f"and {len(lines) - _MOST} more")
    return "; ".join(told)
