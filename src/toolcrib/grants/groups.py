"""This module chooses the group that a caller acts for."""

from __future__ import annotations

from toolcrib.errors import GroupRequired
from toolcrib.grants.agents import Agent
from toolcrib.identity.caller import Caller


def acting_for(caller: Caller, agent: Agent | None) -> Caller:
    """The caller with the agent's group; else the one named, else the only one, else none.

    Raises GroupRequired when there are several and none was named.
    """
    if agent is not None and agent.group_id is not None:
        return _with(caller, agent.group_id)
    if caller.group_id is not None or not caller.group_ids:
        return caller
    if len(caller.group_ids) > 1:
        raise GroupRequired(
            "You belong to several groups and named none.",
            hint="Send X-Toolcrib-Group with one of: "
            + ", ".join(str(g) for g in sorted(caller.group_ids)),
        )
    return _with(caller, next(iter(caller.group_ids)))


def usual_group(caller: Caller) -> int | None:
    """The group that the caller named, else the only one; None where nobody can tell."""
    if caller.group_id is not None or len(caller.group_ids) != 1:
        return caller.group_id
    return next(iter(caller.group_ids))


def _with(caller: Caller, group_id: int) -> Caller:
    return caller if caller.group_id == group_id else caller.in_group(group_id)
