"""This module shows the journal: each caller's own calls, and to admins those of their groups."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime

from toolcrib.desk.reach import within_reach
from toolcrib.errors import NotGranted
from toolcrib.grants.decide import INSTALLATION, Holding, decide, of_call
from toolcrib.identity.caller import Caller
from toolcrib.identity.roles import Role
from toolcrib.invocation.journal import CallFilter, CallRecord, Journal


class Calls:
    """The journal, read for people."""

    def __init__(self, *, journal: Journal) -> None:
        self._journal = journal

    async def list(
        self,
        caller: Caller,
        *,
        agent_id: int | None = None,
        tool: str | None = None,
        user_id: int | None = None,
        success: bool | None = None,
        since: datetime | None = None,
        before: str | None = None,
        limit: int = 50,
        everything: bool = False,
    ) -> Sequence[CallRecord]:
        """Newest first; `before` is the last call_id seen. `everything` is the operator's."""
        bound = caller.agent_id
        if bound is not None and agent_id not in {None, bound}:
            return []
        chosen = CallFilter(
            own_user_id=caller.user_id,
            group_ids=caller.group_ids if caller.role is Role.ADMIN else frozenset(),
            every_group=caller.is_super_admin,
            everything=everything,
            agent_id=agent_id if bound is None else bound,
            tool=tool,
            user_id=user_id,
            success=success,
            since=since,
        )
        await self._journal.flush()
        rows = await self._journal.list(chosen, before=before, limit=limit)
        return [row for row in rows if everything or decide(caller, "see", _holding(row))]

    async def get(self, caller: Caller, call_id: str, *, everything: bool = False) -> CallRecord:
        """Raises NotFound. `everything` is the operator's."""
        await self._journal.flush()
        row = await self._journal.find(call_id)
        if row is not None and everything:
            return row
        return within_reach(row, caller, row and _holding(row), what=f"call {call_id!r}")

    async def prune(self, caller: Caller, *, older_than: datetime) -> int:
        """Delete what began earlier; returns how many calls that were."""
        if not decide(caller, "change", INSTALLATION):
            raise NotGranted("Only a super-admin prunes the journal.")
        await self._journal.flush()
        return await self._journal.prune(older_than=older_than)


def _holding(row: CallRecord) -> Holding:
    return of_call(user_id=row.user_id, group_id=row.group_id, agent_id=row.agent_id)
