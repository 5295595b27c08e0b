"""This module keeps groups: the tenants of an installation."""

from __future__ import annotations

from collections.abc import Sequence

from toolcrib.coordination.signals import Signals
from toolcrib.desk.checking import checked_name
from toolcrib.desk.reach import require_making, within_reach
from toolcrib.grants.decide import Holding, decide, of_group
from toolcrib.identity.accounts import Group, GroupStore
from toolcrib.identity.caller import Caller


class Groups:
    """The groups that a caller is a member of; a super-admin counts as a member of each."""

    def __init__(self, *, groups: GroupStore, signals: Signals) -> None:
        self._groups = groups
        self._signals = signals

    async def create(self, caller: Caller, *, name: str) -> Group:
        """Raises NotGranted, or Conflict when the name is taken."""
        require_making(caller, Holding(kind="group"), what="a group")
        group = await self._groups.create(name=checked_name(name))
        await self._signals.bump("identity")
        return group

    async def get(self, caller: Caller, group_id: int) -> Group:
        group = await self._groups.find(group_id)
        return within_reach(group, caller, group and of_group(group), what=f"group {group_id}")

    async def list(self, caller: Caller, *, after: int = 0, limit: int = 50) -> Sequence[Group]:
        if caller.agent_id is not None:
            return []
        ids = None if caller.is_super_admin else caller.group_ids
        rows = await self._groups.list(ids=ids, after=after, limit=limit)
        return [row for row in rows if decide(caller, "see", of_group(row))]
