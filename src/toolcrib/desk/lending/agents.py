"""This module lends a call its agent and the making of others: with the caller's rights alone."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from toolcrib.catalog.capabilities import CapabilityStore
from toolcrib.desk.agents import Agents
from toolcrib.desk.lending.asking import agent_of, running
from toolcrib.grants.agents import Agent, AgentDraft
from toolcrib.plugin.lent import Row

_PAGE = 200


class LentAgents:
    """The OwnAgents of `plugin.lent`."""

    def __init__(self, *, agents: Agents, capabilities: CapabilityStore) -> None:
        self._agents = agents
        self._capabilities = capabilities

    async def current(self) -> Row:
        call = running()
        return await self._shown(await self._agents.get(call.caller, agent_of(call)))

    async def list(self) -> Sequence[Row]:
        call = running()
        rows: list[Row] = []
        after = 0
        while page := await self._agents.list(call.caller, after=after, limit=_PAGE):
            rows += [{"id": agent.id, "name": agent.name} for agent in page]
            after = page[-1].id
        return rows

    async def update(self, changes: Row) -> Row:
        """All at once: a refusal leaves everything as it was."""
        if not changes:
            return await self.current()
        call = running()
        fields = {name: value for name, value in changes.items() if name != "capabilities"}
        agent = await self._agents.update(
            call.caller, agent_of(call), fields, capabilities=changes.get("capabilities")
        )
        return await self._shown(agent)

    async def create(self, draft: Row) -> Row:
        call = running()
        model = draft["model"]
        if model is None:
            model = (await self._agents.get(call.caller, agent_of(call))).model
        made = await self._agents.create(
            call.caller,
            AgentDraft(
                name=draft["name"],
                model=model,
                system_prompt=draft["system_prompt"],
                group_id=None if draft["private"] else call.caller.group_id,
                creator_id=call.caller.user_id,
            ),
            capabilities=draft["capabilities"],
        )
        return await self._shown(made)

    async def _shown(self, agent: Agent) -> Row:
        rows = await self._capabilities.find_many(agent.capability_ids)
        held: list[Any] = [*(row.code for row in rows), *agent.codes]
        return {
            "id": agent.id,
            "name": agent.name,
            "model": agent.model,
            "system_prompt": agent.system_prompt,
            "group_id": agent.group_id,
            "capabilities": held,
            "mcp_mode": agent.mcp_mode,
            "tools_config": dict(agent.tools_config),
            "version": agent.version,
        }
