"""This module keeps agents: made, found, changed and given their capabilities under authority."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from toolcrib.agents.chats import Chat, ChatStore
from toolcrib.catalog.capabilities import CapabilityStore
from toolcrib.catalog.packages import PackageStore
from toolcrib.coordination.signals import Signals
from toolcrib.desk.chats import ChatEnded
from toolcrib.desk.checking import checked_name
from toolcrib.desk.choosing import CapabilityRef, Choosing, KnownCodes
from toolcrib.desk.reach import require, require_making, within_reach
from toolcrib.documents.document import BlobStore, DocumentStore
from toolcrib.errors import InvalidOptions
from toolcrib.grants.agents import Agent, AgentDraft, AgentStore
from toolcrib.grants.decide import Holding, Kind, decide, of_agent
from toolcrib.identity.caller import Caller
from toolcrib.resolution.selection import checked_selection


class Agents:
    """The agents that a caller may reach."""

    def __init__(
        self,
        *,
        agents: AgentStore,
        chats: ChatStore,
        ended: ChatEnded,
        capabilities: CapabilityStore,
        documents: DocumentStore,
        blobs: BlobStore,
        signals: Signals,
        packages: PackageStore,
        known: KnownCodes,
    ) -> None:
        self._agents = agents
        self._chats = chats
        self._ended = ended
        self._capabilities = capabilities
        self._documents = documents
        self._blobs = blobs
        self._signals = signals
        self._choosing = Choosing(capabilities=capabilities, packages=packages, known=known)

    async def create(
        self, caller: Caller, draft: AgentDraft, *, capabilities: Sequence[CapabilityRef] = ()
    ) -> Agent:
        """The new agent, with the default capabilities of its group attached behind the named ones.

        Raises NotFound or NotGranted for a group that is not the caller's, InvalidOptions for a
        capability that cannot be attached.
        """
        draft = replace(draft, creator_id=caller.user_id, name=checked_name(draft.name))
        checked_selection(draft.tools_config)
        _require_making(caller, draft)
        chosen = await self._choosing.rows(caller, capabilities, group_id=draft.group_id)
        codes = await self._choosing.codes(caller, capabilities)
        defaults = await self._capabilities.defaults(
            group_id=draft.group_id, owner_id=caller.user_id
        )
        ids = dict.fromkeys([*(row.id for row in chosen), *(row.id for row in defaults)])
        agent = await self._agents.create(replace(draft, capability_ids=tuple(ids), codes=codes))
        await self._signals.bump("grants")
        return agent

    async def get(self, caller: Caller, agent_id: int) -> Agent:
        agent = await self._agents.find(agent_id)
        return within_reach(agent, caller, agent and of_agent(agent), what=f"agent {agent_id}")

    async def list(self, caller: Caller, *, after: int = 0, limit: int = 50) -> Sequence[Agent]:
        if caller.agent_id is not None:
            agent = await self._agents.find(caller.agent_id) if after < caller.agent_id else None
            return [agent] if agent and decide(caller, "see", of_agent(agent)) else []
        everything = caller.is_super_admin
        return await self._agents.list(
            group_ids=None if everything else caller.group_ids,
            creator_id=None if everything else caller.user_id,
            after=after,
            limit=limit,
        )

    async def update(
        self,
        caller: Caller,
        agent_id: int,
        changes: Mapping[str, Any],
        *,
        capabilities: Sequence[CapabilityRef] | None = None,
        expected_version: int | None = None,
    ) -> Agent:
        """Change fields, and what the agent holds unless `capabilities` is None: all or nothing.

        A number is a capability's id, a string a code. Raises NotFound, NotGranted, InvalidOptions,
        Conflict for another version.
        """
        agent = await self._changeable(caller, agent_id)
        if "group_id" in changes and changes["group_id"] != agent.group_id:
            raise InvalidOptions(
                "An agent stays in its group.", where="group_id", hint="Make another agent."
            )
        if "name" in changes:
            changes = {**changes, "name": checked_name(changes["name"])}
        checked_selection(changes.get("tools_config") or {})
        if capabilities is not None:
            changes = {**changes, **await self._held(caller, agent, capabilities)}
        updated = await self._agents.update(agent_id, changes, expected_version=expected_version)
        await self._signals.bump("grants")
        return updated

    async def set_capabilities(
        self,
        caller: Caller,
        agent_id: int,
        capabilities: Sequence[CapabilityRef],
        *,
        expected_version: int | None = None,
    ) -> Agent:
        """Replace what the agent holds. Raises as `update` does."""
        return await self.update(
            caller, agent_id, {}, capabilities=capabilities, expected_version=expected_version
        )

    async def delete(
        self, caller: Caller, agent_id: int, *, expected_version: int | None = None
    ) -> None:
        """Its tokens and chats go with it, what runs for them, and the bytes of their documents;
        its calls stay."""
        await self._changeable(caller, agent_id)
        keys = await self._documents.keys(agent_id=agent_id)
        chats = await self._chats_of(agent_id)
        await self._agents.delete(agent_id, expected_version=expected_version)
        await self._signals.bump("identity")
        await self._signals.bump("grants")
        for chat in chats:
            await self._ended(chat.id, chat.uuid)
        for key in keys:
            await self._blobs.delete(key)

    async def _chats_of(self, agent_id: int) -> Sequence[Chat]:
        found: list[Chat] = []
        while page := await self._chats.list(
            None, agent_id=agent_id, after=found[-1].id if found else 0
        ):
            found += page
        return found

    async def _held(
        self, caller: Caller, agent: Agent, capabilities: Sequence[CapabilityRef]
    ) -> Mapping[str, Any]:
        """The fields of an agent that holds these."""
        chosen = await self._choosing.rows(
            caller, capabilities, group_id=agent.group_id, held=agent.capability_ids
        )
        ids = tuple(dict.fromkeys(row.id for row in chosen))
        codes = await self._choosing.codes(caller, capabilities, held=agent.codes)
        return {"capability_ids": ids, "codes": codes}

    async def _changeable(self, caller: Caller, agent_id: int) -> Agent:
        agent = await self.get(caller, agent_id)
        require(caller, "change", of_agent(agent), what=f"agent {agent_id}")
        return agent


def _require_making(caller: Caller, draft: AgentDraft) -> None:
    group_id = draft.group_id
    if group_id is not None and caller.agent_id is None:
        require(caller, "use", Holding(kind="group", group_id=group_id), what=f"group {group_id}")
    kind: Kind = "own_agent" if group_id is None else "group_agent"
    thing = Holding(kind=kind, group_id=group_id, owner_id=caller.user_id)
    require_making(caller, thing, what="an agent")
