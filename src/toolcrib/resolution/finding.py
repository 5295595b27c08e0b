"""This module asks the rows of an agent, all at once, what they bring for one caller."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from toolcrib.catalog.capabilities import Capability
from toolcrib.identity.caller import Caller
from toolcrib.resolution.conditions import Situation
from toolcrib.resolution.naming import Names
from toolcrib.resolution.offering import Found, Preparing, Providers
from toolcrib.resolution.refusal import gone, no_provider, refusal
from toolcrib.resolution.toolset import Absence, ResolvedTool, Toolset
from toolcrib.tools.source import Bundle
from toolcrib.tools.turns import aside


@dataclass(frozen=True, kw_only=True, slots=True)
class Findings:
    """What the rows bring, before anything has its name."""

    bundles: Sequence[tuple[Bundle, int | None]]
    absences: Sequence[Absence]

    async def toolset(self, names: Names | None = None) -> Toolset:
        """All of it under its names."""
        count = sum(len(bundle.offers) for bundle, _ in self.bundles)
        return await aside(count, lambda: self._toolset(names or Names()))

    def _toolset(self, names: Names) -> Toolset:
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
    agent_id: int | None = None,
) -> Findings:
    """Ask for all rows at once: one that has to wait for a server delays no other.

    `agent_id` is the agent that holds the rows, where one does.
    """
    situation = Situation(
        context=caller.context,
        in_chat=caller.chat is not None,
        user_id=caller.user_id,
        group_id=caller.group_id,
        settings=settings,
    )
    ordered = sorted(rows, key=lambda r: (r.ordering, r.id))
    for kind, provider in providers.items():
        if isinstance(provider, Preparing):
            await provider.prepare([row for row in ordered if row.type == kind])
    answers = await asyncio.gather(
        *(_found_for(row, caller, agent_id, situation, providers) for row in ordered)
    )
    bundles: list[tuple[Bundle, int | None]] = []
    absences = [gone(capability_id) for capability_id in missing]
    for row, (brought, absent) in zip(ordered, answers, strict=True):
        bundles += [(bundle, row.id or None) for bundle in brought]
        absences += absent
    return Findings(bundles=bundles, absences=absences)


async def _found_for(
    row: Capability,
    caller: Caller,
    agent_id: int | None,
    situation: Situation,
    providers: Providers,
) -> Found:
    refused = refusal(row, caller, agent_id=agent_id)
    if refused is not None:
        return (), (refused,)
    provider = providers.get(row.type)
    if provider is None:
        return (), (no_provider(row),)
    return await provider.find(row, situation)


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
