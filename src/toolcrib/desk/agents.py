"""This module keeps agents: made, found, changed and given their capabilities under authority."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any, Protocol

from toolcrib.catalog.capabilities import Capability, CapabilityStore, Reach
from toolcrib.catalog.packages import PackageStore, slug_of
from toolcrib.coordination.signals import Signals
from toolcrib.desk.checking import checked_name
from toolcrib.desk.reach import require, require_making, within_reach
from toolcrib.documents.document import BlobStore, DocumentStore
from toolcrib.errors import InvalidOptions
from toolcrib.grants.agents import Agent, AgentDraft, AgentStore
from toolcrib.grants.decide import INSTALLATION, Holding, Kind, decide, of_agent, of_capability
from toolcrib.identity.caller import Caller
from toolcrib.resolution.selection import checked_selection

CapabilityRef = int | str
_PREFERENCE = ("group", "private", "user", "system")


class KnownCodes(Protocol):
    """Codes that loaded plugins register."""

    def codes(self) -> Sequence[str]: ...


class Agents:
    """The agents that a caller may reach."""

    def __init__(
        self,
        *,
        agents: AgentStore,
        capabilities: CapabilityStore,
        documents: DocumentStore,
        blobs: BlobStore,
        signals: Signals,
        packages: PackageStore,
        known: KnownCodes,
    ) -> None:
        self._agents = agents
        self._capabilities = capabilities
        self._documents = documents
        self._blobs = blobs
        self._signals = signals
        self._packages = packages
        self._known = known

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
        chosen = await self._chosen(caller, _rows_of(capabilities), group_id=draft.group_id)
        codes = await self._package_codes(caller, capabilities)
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
        expected_version: int | None = None,
    ) -> Agent:
        agent = await self._changeable(caller, agent_id)
        if "group_id" in changes and changes["group_id"] != agent.group_id:
            raise InvalidOptions(
                "An agent stays in its group.", where="group_id", hint="Make another agent."
            )
        if "name" in changes:
            changes = {**changes, "name": checked_name(changes["name"])}
        checked_selection(changes.get("tools_config") or {})
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
        """Replace what the agent holds. A number is a capability's id, a string a code."""
        agent = await self._changeable(caller, agent_id)
        chosen = await self._chosen(
            caller, _rows_of(capabilities), group_id=agent.group_id, held=agent.capability_ids
        )
        ids = tuple(dict.fromkeys(row.id for row in chosen))
        codes = await self._package_codes(caller, capabilities, held=agent.codes)
        updated = await self._agents.update(
            agent_id, {"capability_ids": ids, "codes": codes}, expected_version=expected_version
        )
        await self._signals.bump("grants")
        return updated

    async def delete(
        self, caller: Caller, agent_id: int, *, expected_version: int | None = None
    ) -> None:
        """Its tokens and chats go with it, and the bytes of their documents; its calls stay."""
        await self._changeable(caller, agent_id)
        keys = await self._documents.keys(agent_id=agent_id)
        await self._agents.delete(agent_id, expected_version=expected_version)
        await self._signals.bump("identity")
        await self._signals.bump("grants")
        for key in keys:
            await self._blobs.delete(key)

    async def _changeable(self, caller: Caller, agent_id: int) -> Agent:
        agent = await self.get(caller, agent_id)
        require(caller, "change", of_agent(agent), what=f"agent {agent_id}")
        return agent

    async def _package_codes(
        self, caller: Caller, capabilities: Sequence[CapabilityRef], held: Sequence[str] = ()
    ) -> tuple[str, ...]:
        """The `installed__<slug>` codes among them: admins give packages, nobody else sees them."""
        codes: list[str] = []
        for place, wanted in enumerate(capabilities):
            slug = slug_of(wanted) if isinstance(wanted, str) else None
            if slug is None:
                continue
            may = str(wanted) in held or decide(caller, "see", INSTALLATION)
            if not may or await self._packages.find(slug) is None:
                raise InvalidOptions(
                    f"There is no package {slug!r} that you could give to an agent.",
                    where=f"capabilities.{place}",
                    hint="Install it with POST /admin/tools/install.",
                )
            codes.append(str(wanted))
        return tuple(dict.fromkeys(codes))

    async def _chosen(
        self,
        caller: Caller,
        capabilities: Sequence[tuple[int, CapabilityRef]],
        *,
        group_id: int | None,
        held: Sequence[int] = (),
    ) -> list[Capability]:
        chosen: list[Capability] = []
        for place, wanted in capabilities:
            where = f"capabilities.{place}"
            if isinstance(wanted, int):
                chosen.append(await self._by_id(caller, wanted, where, group_id, held))
            else:
                chosen.append(await self._by_code(caller, wanted, where, group_id))
        return chosen

    async def _by_id(
        self,
        caller: Caller,
        wanted: int,
        where: str,
        group_id: int | None,
        held: Sequence[int],
    ) -> Capability:
        row = await self._capabilities.find(wanted)
        usable = row is not None and (
            wanted in held or (decide(caller, "use", of_capability(row)) and _fits(row, group_id))
        )
        if row is None or row.archived or not usable:
            raise InvalidOptions(
                f"There is no capability {wanted} that this agent could hold.",
                where=where,
                hint="It holds live capabilities of its own group, and yours for everybody; "
                "GET /api/super-admin/capabilities lists them.",
            )
        return row

    async def _by_code(
        self, caller: Caller, code: str, where: str, group_id: int | None
    ) -> Capability:
        row = await find_by_code(self._capabilities, caller, code, group_id=group_id)
        if row is not None:
            return row
        raise InvalidOptions(
            f"No capability that this agent could hold has the code {code!r}.",
            where=where,
            hint=self._hint(code, group_id),
        )

    def _hint(self, code: str, group_id: int | None) -> str:
        if code not in self._known.codes():
            return "No loaded plugin registers it either; look at GET /api/v1/plugins."
        group = f', "group_id": {group_id}' if group_id is not None else ""
        return (
            "It is registered: activate it with POST "
            f'/api/super-admin/capabilities/from-registered-tool {{"code": "{code}"{group}}}.'
        )


async def find_by_code(
    store: CapabilityStore, caller: Caller, code: str, *, group_id: int | None
) -> Capability | None:
    """The row that a code means to a caller acting for a group: group, private, user, system."""
    groups = frozenset({group_id}) if group_id is not None else caller.group_ids
    reach = Reach(group_ids=groups, owner_id=caller.user_id)
    rows = [r for r in await store.list(reach=reach, code=code) if _fits(r, group_id)]
    return min(rows, key=lambda r: (_PREFERENCE.index(r.access_type), r.id), default=None)


def _rows_of(capabilities: Sequence[CapabilityRef]) -> list[tuple[int, CapabilityRef]]:
    """What names capability rows, with its place; a package's code needs no row."""
    return [
        (place, wanted)
        for place, wanted in enumerate(capabilities)
        if not (isinstance(wanted, str) and slug_of(wanted))
    ]


def _fits(row: Capability, group_id: int | None) -> bool:
    """A group's capability serves its own group's agents only."""
    return row.access_type != "group" or group_id is None or row.group_id == group_id


def _require_making(caller: Caller, draft: AgentDraft) -> None:
    group_id = draft.group_id
    if group_id is not None and caller.agent_id is None:
        require(caller, "use", Holding(kind="group", group_id=group_id), what=f"group {group_id}")
    kind: Kind = "own_agent" if group_id is None else "group_agent"
    thing = Holding(kind=kind, group_id=group_id, owner_id=caller.user_id)
    require_making(caller, thing, what="an agent")
