"""This module finds what a request is about: the agent that its path or its token names."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any, NamedTuple

from toolcrib.identity.caller import Caller
from toolcrib.identity.context import Context
from toolcrib.platform import Platform
from toolcrib.surfaces.mcp.places import Place, path_of
from toolcrib.surfaces.mcp.served import AgentTools

_REMEMBERED = 4096
_MOST_NAMED = 50


class NoAgentNamed(Exception):
    """Neither the path nor the token names an agent. `agents` are those that could be."""

    def __init__(self, agents: Sequence[Mapping[str, Any]]) -> None:
        self.agents = agents
        super().__init__(
            "This token belongs to no agent. Connect to one of: "
            + (", ".join(agent["path"] for agent in agents) or "none, for you have no agent yet")
            + "."
        )


class _Lately(NamedTuple):
    """What one Caller object was let in to, and when: by the generation numbers."""

    caller: Caller
    generation: tuple[int, ...]
    tools: AgentTools


class Entering:
    """Callers come from outside of any chat. What one Caller gets is remembered until something
    changes: the same object comes back with the token's next request."""

    def __init__(self, platform: Platform) -> None:
        self._platform = platform
        self._context = Context.of(None, environment=platform.settings.environment)
        self._lately: dict[tuple[int, int], _Lately] = {}

    async def served(self, place: Place, caller: Caller) -> AgentTools:
        """Raises NotFound for an agent that is not the caller's to use, NoAgentNamed."""
        agent_id = place.agent_id or caller.agent_id
        if agent_id is None:
            raise NoAgentNamed(await self._agents(caller))
        generation = self._platform.generation()
        known = self._lately.get((agent_id, id(caller)))
        if known is None or known.caller is not caller or known.generation != generation:
            await self._platform.resolver.agent(agent_id, caller)
            known = _Lately(caller, generation, self._made(agent_id, caller))
            if len(self._lately) >= _REMEMBERED:
                self._lately.clear()
            self._lately[agent_id, id(caller)] = known
        return known.tools

    def _made(self, agent_id: int, caller: Caller) -> AgentTools:
        outside = replace(caller, chat=None, context=self._context)
        return AgentTools(platform=self._platform, agent_id=agent_id, caller=outside)

    async def _agents(self, caller: Caller) -> Sequence[Mapping[str, Any]]:
        rows = await self._platform.desk.agents.list(caller, limit=_MOST_NAMED)
        return [{"id": row.id, "name": row.name, "path": path_of(row.id)} for row in rows]
