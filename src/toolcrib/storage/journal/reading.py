"""This module writes the queries for people who look at calls."""

from __future__ import annotations

from typing import Any

from sqlalchemy import ColumnElement, Select, select, true, union

from toolcrib.invocation.journal import CallFilter
from toolcrib.storage.tables import calls

_MANY = 50
"""From this many groups on, they are one condition."""


def chosen_calls(chosen: CallFilter, *, before: str | None, limit: int) -> Select[Any]:
    """Newest first. Each part of the reach is read along its own index, `limit` rows at most."""
    wanted = _narrowed(chosen)
    if before is not None:
        wanted.append(calls.c.call_id < before)
    parts = [
        select(calls.c.call_id)
        .where(part, *wanted)
        .order_by(calls.c.call_id.desc())
        .limit(limit)
        .subquery()
        for part in _reach(chosen)
    ]
    newest = select(calls).order_by(calls.c.call_id.desc()).limit(limit)
    if not parts:
        return newest.where(calls.c.call_id.in_(()))
    return newest.where(calls.c.call_id.in_(union(*(select(part.c.call_id) for part in parts))))


def _reach(chosen: CallFilter) -> list[ColumnElement[bool]]:
    if chosen.everything:
        return [true()]
    parts: list[ColumnElement[bool]] = []
    if chosen.own_user_id is not None:
        parts.append(calls.c.user_id == chosen.own_user_id)
    if chosen.every_group:
        parts.append(calls.c.group_id.is_not(None))
    elif len(chosen.group_ids) < _MANY:
        parts.extend(calls.c.group_id == one for one in sorted(chosen.group_ids))
    else:
        parts.append(calls.c.group_id.in_(chosen.group_ids))
    return parts


def _narrowed(chosen: CallFilter) -> list[ColumnElement[bool]]:
    pairs = (
        (calls.c.agent_id, chosen.agent_id),
        (calls.c.tool, chosen.tool),
        (calls.c.user_id, chosen.user_id),
        (calls.c.success, chosen.success),
    )
    wanted = [column == value for column, value in pairs if value is not None]
    if chosen.since is not None:
        wanted.append(calls.c.started_at >= chosen.since)
    return wanted
