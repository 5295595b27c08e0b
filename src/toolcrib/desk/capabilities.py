"""This module keeps capabilities: made by hand or of a registered tool, changed, archived."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from toolcrib.catalog.capabilities import Capability, CapabilityDraft, CapabilityStore, Reach
from toolcrib.coordination.signals import Signals
from toolcrib.desk.activating import RegisteredCode, activation_of, held_by, registered_codes
from toolcrib.desk.drafts import CapabilityKinds, changed_draft, checked_draft
from toolcrib.desk.making import Making
from toolcrib.desk.reach import require, within_reach
from toolcrib.errors import Conflict, NotFound
from toolcrib.grants.decide import decide, of_capability
from toolcrib.identity.accounts import GroupStore
from toolcrib.identity.caller import Caller
from toolcrib.plugin.registration import Registry
from toolcrib.tools.dotted import expand_dotted

_AUTHORITY = frozenset({"access_type", "group_id", "code", "type"})
"""Fields that say who may use what: changing them is like making another row."""


class Capabilities:
    """The capabilities within a caller's reach. `kinds` are the types that have a source here."""

    def __init__(
        self,
        *,
        capabilities: CapabilityStore,
        groups: GroupStore,
        registry: Registry,
        kinds: CapabilityKinds,
        signals: Signals,
    ) -> None:
        self._capabilities = capabilities
        self._making = Making(capabilities=capabilities, groups=groups)
        self._registry = registry
        self._kinds = kinds
        self._signals = signals

    async def create(self, caller: Caller, draft: CapabilityDraft) -> Capability:
        """Raises InvalidOptions with the field, NotFound, NotGranted, Conflict."""
        checked = checked_draft(draft, caller, kinds=self._kinds)
        await self._making.require(caller, checked)
        row = await self._capabilities.create(checked)
        await self._signals.bump("catalog")
        return row

    async def create_from_registered(
        self,
        caller: Caller,
        *,
        code: str,
        group_id: int,
        name: str | None = None,
        description: str | None = None,
        is_default: bool = False,
        ordering: int = 0,
    ) -> Capability:
        """Activate a registered code for a group; name and description default to the plugin's.

        Raises NotFound for a code that nobody registers, Conflict when the group has it already.
        """
        await self._making.require_group(caller, group_id)
        bundle = self._registry.snapshot().bundles.get(code)
        if bundle is None:
            raise NotFound(
                f"No loaded plugin registers the code {code!r}.",
                where="code",
                hint="GET /api/v1/plugins says what was loaded.",
            )
        held = (await held_by(self._capabilities, group_id)).get(code)
        if held is not None:
            raise Conflict(
                f"Group {group_id} has the code {code!r} already, in capability {held.id}.",
                where="code",
                current=held,
            )
        draft = activation_of(bundle, group_id, name=name, description=description)
        return await self.create(caller, replace(draft, is_default=is_default, ordering=ordering))

    async def registered(self, caller: Caller, *, group_id: int) -> Sequence[RegisteredCode]:
        """Every registered code; `capability_id` is of the group's own row."""
        await self._making.require_group(caller, group_id)
        return registered_codes(self._registry, await held_by(self._capabilities, group_id))

    async def get(self, caller: Caller, capability_id: int) -> Capability:
        row = await self._find(caller, capability_id)
        thing = row and of_capability(row, agent_id=caller.agent_id)
        return within_reach(row, caller, thing, what=f"capability {capability_id}")

    async def list(
        self,
        caller: Caller,
        *,
        code: str | None = None,
        archived: bool = False,
        after: int = 0,
        limit: int = 50,
    ) -> Sequence[Capability]:
        """With `code`, rows whose codes include it; with `archived`, archived rows too."""
        rows = await self._capabilities.list(
            reach=_reach(caller), code=code, archived=archived, after=after, limit=limit
        )
        held_by = caller.agent_id
        return [r for r in rows if decide(caller, "see", of_capability(r, agent_id=held_by))]

    async def update(
        self,
        caller: Caller,
        capability_id: int,
        changes: Mapping[str, Any],
        *,
        expected_version: int | None = None,
    ) -> Capability:
        """`changes` may hold any field of a draft but the owner.

        A change of who may use what needs the right to make such a capability.
        """
        row = await self._changeable(caller, capability_id)
        draft = checked_draft(changed_draft(row, changes), caller, kinds=self._kinds)
        if _AUTHORITY & set(changes):
            await self._making.require(caller, draft)
        touched = {name: getattr(draft, name) for name in changes}
        if "access_type" in changes:
            touched |= {"group_id": draft.group_id, "owner_id": draft.owner_id}
        is_another = is_another_definition(row, draft)
        updated = await self._capabilities.update(
            capability_id,
            touched,
            expected_version=expected_version,
            released_by=caller.user_id if is_another else None,
        )
        if is_another:
            await self._signals.bump("pins")
        await self._signals.bump("catalog")
        return updated

    async def archive(
        self, caller: Caller, capability_id: int, *, expected_version: int | None = None
    ) -> Capability:
        """Agents keep the row and show it as skipped until it is restored or taken off."""
        return await self._set_archived(caller, capability_id, expected_version, archived=True)

    async def restore(
        self, caller: Caller, capability_id: int, *, expected_version: int | None = None
    ) -> Capability:
        """Raises Conflict when another live row has the code by now."""
        return await self._set_archived(caller, capability_id, expected_version, archived=False)

    async def _set_archived(
        self, caller: Caller, capability_id: int, expected: int | None, *, archived: bool
    ) -> Capability:
        row = await self._changeable(caller, capability_id)
        if row.archived is archived and expected in {None, row.version}:
            return row
        if not archived:
            await self._making.require(caller, changed_draft(row, {}))
        updated = await self._capabilities.update(
            capability_id, {"archived": archived}, expected_version=expected
        )
        await self._signals.bump("catalog")
        return updated

    async def _find(self, caller: Caller, capability_id: int) -> Capability | None:
        """The row; for a token that is bound to an agent, only one that the agent holds."""
        if caller.agent_id is None:
            return await self._capabilities.find(capability_id)
        rows = await self._capabilities.list(
            reach=_reach(caller), archived=True, after=capability_id - 1, limit=1
        )
        return next((row for row in rows if row.id == capability_id), None)

    async def _changeable(self, caller: Caller, capability_id: int) -> Capability:
        row = await self.get(caller, capability_id)
        thing = of_capability(row, agent_id=caller.agent_id)
        require(caller, "change", thing, what=f"capability {capability_id}")
        return row


def _reach(caller: Caller) -> Reach:
    return Reach(
        group_ids=caller.group_ids,
        owner_id=caller.user_id,
        every_group=caller.is_super_admin,
        agent_id=caller.agent_id,
    )


def is_another_definition(before: Capability, after: CapabilityDraft) -> bool:
    """Whether whoever made this change means other tools by it. The options of a server's row say
    how it is connected to; its tools are others when it is another server."""
    if after.type == "mcp":
        return _server_of(before) != _server_of(after)
    return _written(before) != _written(after)


def _server_of(row: Capability | CapabilityDraft) -> object:
    return expand_dotted(row.options or {}).get("server_url")


def _written(row: Capability | CapabilityDraft) -> tuple[object, ...]:
    return (row.type, row.code, row.name, row.description, row.options)
