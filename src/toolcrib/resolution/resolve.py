"""This module resolves: capabilities and a caller in, a Toolset out, remembered until a change."""

from __future__ import annotations

import asyncio
from collections import OrderedDict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

from toolcrib.catalog.capabilities import Capability, CapabilityStore
from toolcrib.errors import Conflict, NotFound
from toolcrib.grants.agents import Agent, AgentStore
from toolcrib.grants.decide import decide, of_agent, of_capability
from toolcrib.grants.groups import acting_for
from toolcrib.identity.caller import Caller
from toolcrib.resolution.conditions import Situation
from toolcrib.resolution.exposed import ExposedNames
from toolcrib.resolution.granted import narrowed
from toolcrib.resolution.holding import Holding
from toolcrib.resolution.naming import Names
from toolcrib.resolution.offering import Found, Generation, Providers
from toolcrib.resolution.searching import Searching
from toolcrib.resolution.selection import select
from toolcrib.resolution.toolset import Absence, ResolvedTool, Toolset
from toolcrib.secrets.settings import SettingValues
from toolcrib.tools.source import Bundle

_REMEMBERED = 4096
_NAMING_TRIES = 5


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
            stored = await self._capabilities.find_many(agent.capability_ids)
            missing = [i for i in agent.capability_ids if i not in {row.id for row in stored}]
            rows = [*stored, *map(_held_code, agent.codes)]
            toolset = await self._named(agent, rows, acting, missing)
            if self._searching is not None:
                toolset = self._searching.of(agent, toolset)
            self._remember(key, toolset)
        return acting, toolset

    async def _named(
        self, agent: Agent, rows: Sequence[Capability], caller: Caller, missing: Sequence[int]
    ) -> Toolset:
        """Resolve with the names that the agent's tools have, and write down new ones."""
        agent_id = agent.id
        found = await self._found(rows, caller, missing)
        bundles, off = select(found.bundles, agent.tools_config)
        found = replace(found, bundles=bundles, absences=[*found.absences, *off])
        if self._names is None:
            return found.toolset()
        for _ in range(_NAMING_TRIES):
            names = Names(await self._names.known(agent_id))
            toolset = found.toolset(names)
            if not names.news:
                return toolset
            try:
                await self._names.keep(agent_id, names.news)
            except Conflict:
                continue  # another process gave one of them to another tool just now
            return toolset
        raise Conflict(f"The names of agent {agent_id}'s tools could not be settled; try again.")

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
        return (await self._found(rows, caller, missing)).toolset()

    async def _found(
        self, rows: Sequence[Capability], caller: Caller, missing: Sequence[int]
    ) -> Findings:
        granted, lost = await narrowed(rows, caller, self._capabilities)
        known = await self._settings.available(user_id=caller.user_id, group_id=caller.group_id)
        found = await find(
            granted, caller, providers=self._providers, settings=known, missing=missing
        )
        bundles = found.bundles
        if self._holding is not None:
            bundles = await self._holding.sift(bundles)
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
    return (
        await find(rows, caller, providers=providers, settings=settings, missing=missing)
    ).toolset()


@dataclass(frozen=True, kw_only=True, slots=True)
class Findings:
    """What the rows bring, before anything has its name."""

    bundles: Sequence[tuple[Bundle, int | None]]
    absences: Sequence[Absence]

    def toolset(self, names: Names | None = None) -> Toolset:
        names = names or Names()
        names.absences += self.absences
        delegations: list[Mapping[str, Any]] = []
        for bundle, capability_id in self.bundles:
            names.add(bundle, capability_id=capability_id)
            delegations += bundle.delegations
        named = names.tools
        held = {name: tool for name, tool in named.items() if tool.hold is not None}
        shown = {name: tool for name, tool in named.items() if name not in held}
        return Toolset(
            tools=shown if held else named,
            absences=(*names.absences, *map(_held_back, held.values())),
            delegations=tuple(delegations),
            held=held,
        )


async def find(
    rows: Sequence[Capability],
    caller: Caller,
    *,
    providers: Providers,
    settings: Mapping[str, str],
    missing: Sequence[int] = (),
) -> Findings:
    """Ask for all rows at once: one that has to wait for a server delays no other."""
    situation = Situation(
        context=caller.context,
        in_chat=caller.chat is not None,
        user_id=caller.user_id,
        group_id=caller.group_id,
        settings=settings,
    )
    ordered = sorted(rows, key=lambda r: (r.ordering, r.id))
    answers = await asyncio.gather(
        *(_found_for(row, caller, situation, providers) for row in ordered)
    )
    bundles: list[tuple[Bundle, int | None]] = []
    absences = [_gone(capability_id) for capability_id in missing]
    for row, (brought, absent) in zip(ordered, answers, strict=True):
        bundles += [(bundle, row.id or None) for bundle in brought]
        absences += absent
    return Findings(bundles=bundles, absences=absences)


async def _found_for(
    row: Capability, caller: Caller, situation: Situation, providers: Providers
) -> Found:
    refused = refusal(row, caller)
    if refused is not None:
        return (), (refused,)
    provider = providers.get(row.type)
    if provider is None:
        return (), (_no_provider(row),)
    return await provider.find(row, situation)


def _held_code(code: str) -> Capability:
    """What an agent holds without a row: it comes after the rows."""
    return Capability(id=0, name=code, code=code, access_type="system", ordering=2**31)


def _held_back(tool: ResolvedTool) -> Absence:
    hold = tool.hold
    return Absence(
        stage="hold",
        ref=tool.ref,
        reason=hold.reason if hold else "",
        fix=hold.fix if hold else "",
        tool=tool.name,
        code=tool.code,
    )


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


def refusal(row: Capability, caller: Caller) -> Absence | None:
    """Why the caller may not use the row; None when they may."""
    if row.archived:
        return Absence(
            stage="capability",
            ref=f"capability:{row.id}",
            reason="the capability is archived",
            fix="Take it off the agent, or restore it.",
            code=row.code,
        )
    verdict = decide(caller, "use", of_capability(row))
    if verdict:
        return None
    return Absence(
        stage="grant",
        ref=f"capability:{row.id}",
        reason=f"you may not use this capability: {verdict.reason}",
        fix="Ask its owner or an admin of its group.",
        code=row.code,
    )


def _gone(capability_id: int) -> Absence:
    return Absence(
        stage="capability",
        ref=f"capability:{capability_id}",
        reason="the capability does not exist any more",
        fix="Take it off the agent.",
    )


def _no_provider(row: Capability) -> Absence:
    return Absence(
        stage="source",
        ref=f"capability:{row.id}",
        reason=f"this installation has no source for capabilities of type {row.type!r}",
        fix="Use a capability of type internal.",
        code=row.code,
    )
