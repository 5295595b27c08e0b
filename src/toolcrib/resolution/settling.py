"""This module settles the names of an agent's tools: those they have, and new ones written down."""

from __future__ import annotations

from toolcrib.errors import Conflict
from toolcrib.resolution.exposed import ExposedNames
from toolcrib.resolution.finding import Findings
from toolcrib.resolution.naming import Names
from toolcrib.resolution.toolset import Toolset

_TRIES = 5


async def settled(found: Findings, agent_id: int, given: ExposedNames) -> Toolset:
    """The tools under the names that they keep. Raises Conflict when other processes name tools of
    the same agent again and again."""
    for _ in range(_TRIES):
        names = Names(await given.known(agent_id))
        toolset = await found.toolset(names)
        if not names.news:
            return toolset
        try:
            await given.keep(agent_id, names.news)
        except Conflict:
            continue  # another process gave one of them to another tool just now
        return toolset
    raise Conflict(f"The names of agent {agent_id}'s tools could not be settled; try again.")
