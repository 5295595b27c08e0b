"""This module answers "may they?": one function, one table, for lists and for calls alike."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal

from toolcrib.catalog.capabilities import AccessType, Capability
from toolcrib.grants.agents import Agent
from toolcrib.identity.accounts import Group, User
from toolcrib.identity.caller import Caller
from toolcrib.secrets.settings import SettingOwner

Action = Literal["see", "use", "change"]
Kind = Literal[
    "system_capability",
    "user_capability",
    "group_capability",
    "private_capability",
    "group_agent",
    "own_agent",
    "user_setting",
    "group_setting",
    "personal",
    "call",
    "user",
    "group",
    "tool_classes",
    "installation",
]


@dataclass(frozen=True, kw_only=True, slots=True)
class Holding:
    """Whom a thing belongs to: all that the table needs to know of it.

    `agent_id`: the agent that a chat or a call is of, or that holds a capability.
    """

    kind: Kind
    group_id: int | None = None
    owner_id: int | None = None
    group_ids: frozenset[int] = frozenset()
    agent_id: int | None = None


@dataclass(frozen=True, slots=True)
class Verdict:
    """`reason` is for people: the rule that decided."""

    allowed: bool
    reason: str

    def __bool__(self) -> bool:
        return self.allowed


Rule = Callable[[Caller, Holding], bool]


def _anyone(caller: Caller, thing: Holding) -> bool:
    return True


def _super_admin(caller: Caller, thing: Holding) -> bool:
    return caller.is_super_admin


def _owner(caller: Caller, thing: Holding) -> bool:
    return thing.owner_id is not None and caller.user_id == thing.owner_id


def _member(caller: Caller, thing: Holding) -> bool:
    return caller.is_super_admin or caller.belongs_to(thing.group_id)


def _group_admin(caller: Caller, thing: Holding) -> bool:
    return caller.administers(thing.group_id)


def _creator_in_group(caller: Caller, thing: Holding) -> bool:
    return _group_admin(caller, thing) or (_owner(caller, thing) and _member(caller, thing))


def _owner_or_super_admin(caller: Caller, thing: Holding) -> bool:
    return _owner(caller, thing) or caller.is_super_admin


def _owner_or_group_admin(caller: Caller, thing: Holding) -> bool:
    in_group = thing.group_id is not None and _group_admin(caller, thing)
    return _owner(caller, thing) or in_group


def _acquainted_admin(caller: Caller, thing: Holding) -> bool:
    shared = any(caller.administers(group) for group in thing.group_ids)
    return _owner_or_super_admin(caller, thing) or shared


def _any_admin(caller: Caller, thing: Holding) -> bool:
    return caller.role != "user"


_TABLE: dict[Kind, tuple[Rule, Rule, Rule]] = {
    "system_capability": (_anyone, _anyone, _super_admin),
    "user_capability": (_anyone, _anyone, _super_admin),
    "group_capability": (_member, _member, _group_admin),
    "private_capability": (_owner, _owner, _owner),
    "group_agent": (_member, _member, _creator_in_group),
    "own_agent": (_owner_or_super_admin, _owner_or_super_admin, _owner_or_super_admin),
    "user_setting": (_owner_or_super_admin, _owner, _owner_or_super_admin),
    "group_setting": (_member, _member, _group_admin),
    "personal": (_owner, _owner, _owner),
    "call": (_owner_or_group_admin, _owner_or_group_admin, _super_admin),
    "user": (_acquainted_admin, _owner, _super_admin),
    "group": (_member, _member, _super_admin),
    "tool_classes": (_anyone, _anyone, _super_admin),
    "installation": (_any_admin, _super_admin, _super_admin),
}
"""The table of authority: who may see, use and change. A super-admin counts as a member
of every group, and still sees nothing that is private to a user."""

_WORDS: dict[Kind, str] = {
    "system_capability": "it belongs to the installation and everybody may use it",
    "user_capability": "it belongs to the installation and every user may use it",
    "group_capability": "it belongs to group {group_id}",
    "private_capability": "it is private to its owner",
    "group_agent": "it belongs to group {group_id}",
    "own_agent": "it belongs to its creator",
    "user_setting": "it is a user's own",
    "group_setting": "it belongs to group {group_id}",
    "personal": "it is a user's own",
    "call": "it is seen by the user who made it and by the group's admin",
    "user": "users are seen by themselves and by admins of their groups",
    "group": "groups are seen by their members",
    "tool_classes": "the installed tool classes are everybody's to know",
    "installation": "it belongs to the installation",
}

_ACTIONS: tuple[Action, ...] = ("see", "use", "change")
_BEYOND_AN_AGENT = frozenset[Kind](
    {"group", "installation", "tool_classes", "user_setting", "group_setting"}
)


def decide(caller: Caller, action: Action, thing: Holding) -> Verdict:
    """The only answer to "may this caller do this with that?"."""
    if caller.agent_id is not None and not _within_binding(caller, action, thing):
        return Verdict(False, f"the token is bound to agent {caller.agent_id}")
    allowed = _TABLE[thing.kind][_ACTIONS.index(action)](caller, thing)
    return Verdict(allowed, _WORDS[thing.kind].format(group_id=thing.group_id))


def _within_binding(caller: Caller, action: Action, thing: Holding) -> bool:
    """A token bound to an agent uses that agent, what it holds, its chats and calls, and changes
    nothing."""
    if action == "change" or thing.kind in _BEYOND_AN_AGENT:
        return False
    if thing.kind == "user":
        return _owner(caller, thing)
    return thing.agent_id == caller.agent_id


def of_capability(row: Capability, *, agent_id: int | None = None) -> Holding:
    """`agent_id` is the agent that holds the row, where it is reached through one."""
    kinds: dict[AccessType, Kind] = {
        "system": "system_capability",
        "user": "user_capability",
        "group": "group_capability",
        "private": "private_capability",
    }
    return Holding(
        kind=kinds[row.access_type],
        group_id=row.group_id,
        owner_id=row.owner_id,
        agent_id=agent_id,
    )


def of_agent(row: Agent) -> Holding:
    kind: Kind = "own_agent" if row.group_id is None else "group_agent"
    return Holding(kind=kind, group_id=row.group_id, owner_id=row.creator_id, agent_id=row.id)


def of_setting(owner: SettingOwner) -> Holding:
    kind: Kind = "group_setting" if owner.group_id is not None else "user_setting"
    return Holding(kind=kind, group_id=owner.group_id, owner_id=owner.user_id)


def of_user(row: User) -> Holding:
    return Holding(kind="user", owner_id=row.id, group_ids=row.group_ids)


def of_group(row: Group) -> Holding:
    return Holding(kind="group", group_id=row.id)


def personal(owner_id: int, *, agent_id: int | None = None) -> Holding:
    """A chat, a document or a run: its user's alone. `agent_id` is the chat's agent."""
    return Holding(kind="personal", owner_id=owner_id, agent_id=agent_id)


def of_call(*, user_id: int, group_id: int | None, agent_id: int | None = None) -> Holding:
    return Holding(kind="call", owner_id=user_id, group_id=group_id, agent_id=agent_id)


INSTALLATION = Holding(kind="installation")
"""Plugins, packages and vault secrets: names and status are the admins' to see."""

TOOL_CLASSES = Holding(kind="tool_classes")
"""The catalogue of installed tool classes."""
