"""This module holds the Caller: who asks, for which group, from which chat."""

from __future__ import annotations

from dataclasses import dataclass, field

from toolcrib.identity.context import Context
from toolcrib.identity.roles import Role


@dataclass(frozen=True, kw_only=True, slots=True)
class ChatRef:
    """The chat a call comes from."""

    id: int
    uuid: str


@dataclass(frozen=True, kw_only=True, slots=True)
class Caller:
    """One authenticated user, as every stage sees them.

    `group_id` is the group acted for, once chosen (the agent's group, else the header,
    else the only group). `agent_id` is set when the token is bound to one agent.
    `overseen`: a super-admin acts for the user, with the user's rights.
    """

    user_id: int
    role: Role = Role.USER
    group_ids: frozenset[int] = frozenset()
    entitlements: frozenset[str] = frozenset()
    group_id: int | None = None
    agent_id: int | None = None
    overseen: bool = False
    token_id: str | None = None
    chat: ChatRef | None = None
    context: Context = field(default_factory=Context)

    @property
    def is_super_admin(self) -> bool:
        return self.role is Role.SUPER_ADMIN

    def in_group(self, group_id: int) -> Caller:
        """The same caller, acting for the group. Every call makes one, so it names the fields."""
        return Caller(
            user_id=self.user_id,
            role=self.role,
            group_ids=self.group_ids,
            entitlements=self.entitlements,
            group_id=group_id,
            agent_id=self.agent_id,
            overseen=self.overseen,
            token_id=self.token_id,
            chat=self.chat,
            context=self.context,
        )

    def belongs_to(self, group_id: int | None) -> bool:
        """Whether the caller is a member of the group (a super-admin is not, unless listed)."""
        return group_id is not None and group_id in self.group_ids

    def administers(self, group_id: int | None) -> bool:
        """Whether the caller may change what belongs to the group."""
        if group_id is None:
            return self.is_super_admin
        return self.is_super_admin or (self.role is Role.ADMIN and group_id in self.group_ids)
