"""This module decides who may make which capability."""

from __future__ import annotations

from toolcrib.catalog.capabilities import CapabilityDraft, CapabilityStore, split_codes
from toolcrib.desk.reach import require_making
from toolcrib.errors import NotFound, NotGranted
from toolcrib.grants.decide import Holding, Kind, decide
from toolcrib.identity.accounts import GroupStore
from toolcrib.identity.caller import Caller
from toolcrib.resolution.granted import ungranted


class Making:
    """The table of authority, asked for rows that are not there yet."""

    def __init__(self, *, capabilities: CapabilityStore, groups: GroupStore) -> None:
        self._capabilities = capabilities
        self._groups = groups

    async def require(self, caller: Caller, draft: CapabilityDraft) -> None:
        """Raises NotGranted, or NotFound for a group that the caller does not see."""
        if draft.group_id is not None:
            await self.require_group(caller, draft.group_id)
            return
        kind: Kind = "private_capability" if draft.access_type == "private" else "system_capability"
        thing = Holding(kind=kind, owner_id=draft.owner_id)
        require_making(caller, thing, what=f"a capability of access_type {draft.access_type!r}")
        if draft.access_type == "private" and draft.type == "internal":
            await self._require_granted_codes(caller, draft)

    async def require_group(self, caller: Caller, group_id: int) -> None:
        """The caller may give capabilities to the group."""
        seen = decide(caller, "see", Holding(kind="group", group_id=group_id))
        if caller.agent_id is None and not (seen and await self._groups.find(group_id)):
            raise NotFound.of(f"group {group_id}", where="group_id")
        thing = Holding(kind="group_capability", group_id=group_id)
        require_making(caller, thing, what=f"a capability of group {group_id}")

    async def _require_granted_codes(self, caller: Caller, draft: CapabilityDraft) -> None:
        """A user's private row rearranges what was granted; only admins grant a code anew."""
        for code in await ungranted(split_codes(draft.code), caller, self._capabilities):
            raise NotGranted(
                f"No capability within your reach grants the code {code!r}.",
                where="code",
                hint="Ask an admin of your group to activate it.",
            )
