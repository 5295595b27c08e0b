"""This module keeps agents and the capabilities that each of them holds."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import fields
from typing import Any

from sqlalchemy import RowMapping, and_, delete, insert, or_, select
from sqlalchemy.ext.asyncio import AsyncConnection

from toolcrib.grants.agents import Agent, AgentDraft
from toolcrib.storage import rows
from toolcrib.storage.database import Database
from toolcrib.storage.failures import taken
from toolcrib.storage.tables import agent_capabilities, agents, capabilities, groups, users

_DRAFTED = {field.name for field in fields(AgentDraft)}
_COLUMNS = _DRAFTED - {"capability_ids"}
_ANOTHER_NAME = "Choose another name, or change the agent that has it."


class SqlAgentStore:
    """AgentStore in SQL. Names are unique without regard to case."""

    def __init__(self, database: Database) -> None:
        self._database = database

    async def create(self, draft: AgentDraft) -> Agent:
        """Raises NotFound for a group, creator or capability that is not there."""
        values = {name: getattr(draft, name) for name in _COLUMNS}
        statement = (
            insert(agents)
            .values(**values, name_key=rows.name_key(draft.name), created_at=self._database.now())
            .returning(*agents.c)
        )
        async with self._database.write() as connection:
            await rows.require(connection, users, "user", [draft.creator_id])
            await _require_group(connection, draft.group_id)
            with taken(_clash(values), hint=_ANOTHER_NAME):
                row = await rows.one(connection, statement)
            return _agent(row, await _hold(connection, row["id"], draft.capability_ids))

    async def find(self, agent_id: int) -> Agent | None:
        async with self._database.read() as connection:
            return await _find(connection, agent_id)

    async def list(
        self,
        *,
        group_ids: frozenset[int] | None,
        creator_id: int | None,
        after: int = 0,
        limit: int = 200,
    ) -> Sequence[Agent]:
        chosen = select(agents).where(agents.c.id > after).order_by(agents.c.id).limit(limit)
        if group_ids is not None or creator_id is not None:
            own = and_(agents.c.group_id.is_(None), agents.c.creator_id == creator_id)
            chosen = chosen.where(or_(agents.c.group_id.in_(group_ids or ()), own))
        async with self._database.read() as connection:
            return await _with_capabilities(connection, await rows.many(connection, chosen))

    async def update(
        self, agent_id: int, changes: Mapping[str, Any], *, expected_version: int | None = None
    ) -> Agent:
        values = rows.checked_changes(changes, _DRAFTED - {"creator_id"})
        held = values.pop("capability_ids", None)
        if "name" in values:
            values["name_key"] = rows.name_key(values["name"])
        async with self._database.write() as connection:
            before = await rows.find(connection, agents, agent_id)
            await _require_group(connection, values.get("group_id"))
            with taken(_clash({**(before or {}), **values}), hint=_ANOTHER_NAME):
                row = await rows.next_version(
                    connection, agents, agent_id, values, expected=expected_version
                )
            if row is None:
                current = await _find(connection, agent_id)
                raise rows.not_changed(
                    "agent", agent_id, expected=expected_version, current=current
                )
            if held is not None:
                await connection.execute(
                    delete(agent_capabilities).where(agent_capabilities.c.agent_id == agent_id)
                )
                await _hold(connection, agent_id, held)
            return (await _with_capabilities(connection, [row]))[0]

    async def delete(self, agent_id: int, *, expected_version: int | None = None) -> bool:
        """Its chats, their messages and its tokens go too; the journal keeps its calls."""
        chosen = agents.c.id == agent_id
        async with self._database.write() as connection:
            if await rows.removed(connection, agents, chosen, expected=expected_version):
                return True
            current = await _find(connection, agent_id)
        if current is not None:
            raise rows.not_changed("agent", agent_id, expected=expected_version, current=current)
        return False


async def _find(connection: AsyncConnection, agent_id: int) -> Agent | None:
    row = await rows.find(connection, agents, agent_id)
    return (await _with_capabilities(connection, [row]))[0] if row else None


async def _require_group(connection: AsyncConnection, group_id: int | None) -> None:
    if group_id is not None:
        await rows.require(connection, groups, "group", [group_id])


async def _hold(connection: AsyncConnection, agent_id: int, ids: Iterable[int]) -> tuple[int, ...]:
    """Link the capabilities in their order; a repeated one counts once."""
    held = tuple(dict.fromkeys(ids))
    await rows.require(connection, capabilities, "capability", held)
    if held:
        await connection.execute(
            insert(agent_capabilities),
            [
                {"agent_id": agent_id, "capability_id": one, "position": position}
                for position, one in enumerate(held)
            ],
        )
    return held


async def _with_capabilities(
    connection: AsyncConnection, found: Sequence[RowMapping]
) -> list[Agent]:
    held: dict[int, list[int]] = {row["id"]: [] for row in found}
    chosen = (
        select(agent_capabilities.c.agent_id, agent_capabilities.c.capability_id)
        .where(agent_capabilities.c.agent_id.in_(list(held)))
        .order_by(agent_capabilities.c.agent_id, agent_capabilities.c.position)
    )
    for link in await rows.many(connection, chosen) if held else ():
        held[link["agent_id"]].append(link["capability_id"])
    return [_agent(row, held[row["id"]]) for row in found]


def _agent(row: RowMapping, held: Iterable[int]) -> Agent:
    values: dict[str, Any] = {name: row[name] for name in _COLUMNS}
    values["codes"] = tuple(row["codes"])
    return Agent(
        id=row["id"],
        capability_ids=tuple(held),
        version=row["version"],
        created_at=row["created_at"],
        **values,
    )


def _clash(values: Mapping[str, Any]) -> str:
    group_id = values.get("group_id")
    where = "among its creator's" if group_id is None else f"in group {group_id}"
    return f"An agent named {values.get('name')!r} is already there, {where}."
