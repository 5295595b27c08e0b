"""This module resolves: capabilities and a caller in, a Toolset out, remembered until a change."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import NamedTuple

from toolcrib.catalog.capabilities import Capability, CapabilityStore
from toolcrib.catalog.pins import OF_CAPABILITIES
from toolcrib.errors import NotFound
from toolcrib.grants.agents import Agent, AgentStore
from toolcrib.grants.decide import decide, of_agent
from toolcrib.grants.groups import acting_for
from toolcrib.identity.caller import Caller
from toolcrib.resolution.exposed import ExposedNames
from toolcrib.resolution.finding import Findings, find
from toolcrib.resolution.granted import narrowed
from toolcrib.resolution.holding import Brought, Holding, until_current
from toolcrib.resolution.offering import Generation, Providers
from toolcrib.resolution.searching import Searching
from toolcrib.resolution.selection import select
from toolcrib.resolution.settling import settled
from toolcrib.resolution.toolset import Toolset
from toolcrib.secrets.settings import SettingValues

_REMEMBERED = 4096


class _Lately(NamedTuple):
    """What one Caller object got: the same object asks again with its next call."""

    caller: Caller
    generation: tuple[int, ...]
    answer: tuple[Caller, Toolset]


class Resolver:
    """What a caller gets from an agent, or from a list of capabilities.

    A Toolset is remembered by agent, user, group, chat context and the generation numbers of all
    it was made from, so a change anywhere is seen by the next resolve.
    """

    def __init__(
        self,
        *,
        agents: AgentStore,
        capabilities: CapabilityStore,
        settings: SettingValues,
        providers: Providers,
        generation: Generation,
        names: ExposedNames | None = None,
        searching: Searching | None = None,
        holding: Holding | None = None,
    ) -> None:
        self._names = names
        self._searching = searching
        self._holding = holding
        self._agents = agents
        self._capabilities = capabilities
        self._settings = settings
        self._providers = providers
        self._generation = generation
        self._toolsets: OrderedDict[object, Toolset] = OrderedDict()
        self._rows: dict[int, tuple[tuple[int, ...], Agent]] = {}
        self._lately: dict[tuple[int, int], _Lately] = {}

    async def agent(self, agent_id: int, caller: Caller) -> Agent:
        """Raises NotFound for an agent that is not there or not the caller's to use."""
        generation = self._generation()
        known = self._rows.get(agent_id)
        if known is None or known[0] != generation:
            row = await self._agents.find(agent_id)
            if row is None:
                raise NotFound.of(f"agent {agent_id}")
            known = (generation, row)
            self._rows[agent_id] = known
        if not decide(caller, "use", of_agent(known[1])):
            raise NotFound.of(f"agent {agent_id}")
        return known[1]

    async def for_agent(self, agent_id: int, caller: Caller) -> tuple[Caller, Toolset]:
        """The caller with their group, and the tools. Raises NotFound, GroupRequired."""
        generation = self._generation()
        place = (agent_id, id(caller))
        lately = self._lately.get(place)
        if lately is None or lately.caller is not caller or lately.generation != generation:
            answer = await self._for_agent(agent_id, caller)
            lately = _Lately(caller, generation, answer)
            if len(self._lately) >= _REMEMBERED:
                self._lately.clear()
            self._lately[place] = lately
        return lately.answer

    async def _for_agent(self, agent_id: int, caller: Caller) -> tuple[Caller, Toolset]:
        agent = await self.agent(agent_id, caller)
        acting = acting_for(caller, agent)
        key = ("agent", agent_id, *_key(acting), self._generation())
        toolset = self._recalled(key)
        if toolset is None:
            toolset = await self._named(agent, acting)
            if self._searching is not None:
                toolset = self._searching.of(agent, toolset)
            self._remember(key, toolset)
        return acting, toolset

    async def _named(self, agent: Agent, caller: Caller) -> Toolset:
        """Resolve with the names that the agent's tools have, and write down new ones."""
        found = await until_current(lambda: self._found_by(agent, caller))
        bundles, off = select(found.bundles, agent.tools_config)
        found = replace(found, bundles=bundles, absences=[*found.absences, *off])
        if self._names is None:
            return await found.toolset()
        return await settled(found, agent.id, self._names)

    async def _found_by(self, agent: Agent, caller: Caller) -> Findings:
        """What the agent's rows bring, as they are stored now. Raises Conflict as `sift`."""
        stored = await self._capabilities.find_many(agent.capability_ids)
        versions: dict[int | None, int] = {row.id: row.version for row in stored}
        missing = [i for i in agent.capability_ids if i not in versions]
        rows = [*stored, *map(_held_code, agent.codes)]
        return await self._found(rows, caller, missing, agent_id=agent.id, versions=versions)

    async def for_capabilities(self, rows: Sequence[Capability], caller: Caller) -> Toolset:
        """The tools of stored rows for a caller whose group is chosen."""
        versions = tuple((row.id, row.version) for row in rows)
        key = ("rows", versions, *_key(caller), self._generation())
        toolset = self._recalled(key)
        if toolset is None:
            toolset = await self.of(rows, caller)
            self._remember(key, toolset)
        return toolset

    async def of(
        self, rows: Sequence[Capability], caller: Caller, *, missing: Sequence[int] = ()
    ) -> Toolset:
        """Resolve afresh, without remembering; rows may be ones that no store has."""
        found = await until_current(lambda: self._found(rows, caller, missing))
        return await found.toolset()

    async def _found(
        self,
        rows: Sequence[Capability],
        caller: Caller,
        missing: Sequence[int],
        *,
        agent_id: int | None = None,
        versions: Mapping[int | None, int] | None = None,
    ) -> Findings:
        """`versions` of the rows, where they were read just now."""
        granted, lost = await narrowed(rows, caller, self._capabilities)
        known = await self._settings.available(user_id=caller.user_id, group_id=caller.group_id)
        found = await find(
            granted,
            caller,
            providers=self._providers,
            settings=known,
            missing=missing,
            agent_id=agent_id,
        )
        bundles = found.bundles
        if self._holding is not None:
            bundles = await self._holding.sift(_versioned(bundles, versions or {}))
        return replace(found, bundles=bundles, absences=[*lost, *found.absences])

    def _recalled(self, key: object) -> Toolset | None:
        toolset = self._toolsets.get(key)
        if toolset is not None:
            self._toolsets.move_to_end(key)
        return toolset

    def _remember(self, key: object, toolset: Toolset) -> None:
        self._toolsets[key] = toolset
        while len(self._toolsets) > _REMEMBERED:
            self._toolsets.popitem(last=False)


async def resolve(
    rows: Sequence[Capability],
    caller: Caller,
    *,
    providers: Providers,
    settings: Mapping[str, str],
    missing: Sequence[int] = (),
) -> Toolset:
    """The tools of these rows for a caller whose group is chosen.

    The rows' own order is `ordering`, then id. `settings` maps the names that have a value to
    their status; `missing` are ids that no row was found for.
    """
    found = await find(rows, caller, providers=providers, settings=settings, missing=missing)
    return await found.toolset()


def _versioned(brought: Sequence[Brought], versions: Mapping[int | None, int]) -> list[Brought]:
    """Bundles whose row is the definition of their tools know the row's version."""
    return [
        (replace(bundle, version=versions.get(number)), number)
        if bundle.kind in OF_CAPABILITIES
        else (bundle, number)
        for bundle, number in brought
    ]


def _held_code(code: str) -> Capability:
    """What an agent holds without a row: it comes after the rows."""
    return Capability(id=0, name=code, code=code, access_type="system", ordering=2**31)


def _key(caller: Caller) -> tuple[object, ...]:
    return (
        caller.user_id,
        caller.role,
        caller.group_ids,
        caller.group_id,
        caller.agent_id,
        caller.chat is not None,
        caller.context,
    )
