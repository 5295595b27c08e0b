"""This module keeps capabilities, and which codes each of them has.

A row's codes stand in a table of their own, written in the same transaction, so that finding the
rows of one code does not read the others.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import fields
from typing import Any

from sqlalchemy import ColumnElement, and_, delete, false, insert, or_, select, text, true
from sqlalchemy.ext.asyncio import AsyncConnection

from toolcrib.catalog.capabilities import Capability, CapabilityDraft, Reach
from toolcrib.errors import InvalidRequest
from toolcrib.storage import rows
from toolcrib.storage.database import Database
from toolcrib.storage.failures import taken
from toolcrib.storage.pin_rows import released
from toolcrib.storage.tables import (
    LIVE_DEFAULTS,
    agent_capabilities,
    capabilities,
    capability_codes,
    groups,
    users,
)

_DRAFTED = {field.name for field in fields(CapabilityDraft)} & set(capabilities.c.keys())
_MANY = 1000
"""How many ids one statement asks for."""


class SqlCapabilityStore:
    """CapabilityStore in SQL."""

    def __init__(self, database: Database) -> None:
        self._database = database

    async def create(self, draft: CapabilityDraft) -> Capability:
        values = {name: getattr(draft, name) for name in _DRAFTED}
        now = self._database.now()
        statement = (
            insert(capabilities)
            .values(**values, created_at=now, updated_at=now)
            .returning(*capabilities.c)
        )
        async with self._database.write() as connection:
            await _check_owners(connection, values)
            with taken(_clash(values), hint="Change that one, or archive it first."):
                made = Capability(**await rows.one(connection, statement))
            await _write_codes(connection, made)
        return made

    async def find(self, capability_id: int) -> Capability | None:
        async with self._database.read() as connection:
            row = await rows.find(connection, capabilities, capability_id)
        return Capability(**row) if row else None

    async def find_many(self, ids: Sequence[int]) -> Sequence[Capability]:
        """In the order of `ids`; those that are not there are left out."""
        found: dict[int, Capability] = {}
        async with self._database.read() as connection:
            for start in range(0, len(ids), _MANY):
                chosen = select(capabilities).where(
                    capabilities.c.id.in_(ids[start : start + _MANY])
                )
                for row in await rows.many(connection, chosen):
                    found[row["id"]] = Capability(**row)
        return [found[one] for one in dict.fromkeys(ids) if one in found]

    async def list(
        self,
        *,
        reach: Reach,
        code: str | None = None,
        archived: bool = False,
        after: int = 0,
        limit: int = 200,
    ) -> Sequence[Capability]:
        """With `archived`, archived rows too."""
        chosen = select(capabilities).where(capabilities.c.id > after, _within(reach))
        if code is not None:
            having = select(capability_codes.c.capability_id).where(capability_codes.c.code == code)
            chosen = chosen.where(capabilities.c.id.in_(having))
        if not archived:
            chosen = chosen.where(~capabilities.c.archived)
        async with self._database.read() as connection:
            found = await rows.many(connection, chosen.order_by(capabilities.c.id).limit(limit))
            return [Capability(**row) for row in found]

    async def defaults(self, *, group_id: int | None, owner_id: int | None) -> Sequence[Capability]:
        """By ordering, then id."""
        reach = Reach(
            group_ids=frozenset() if group_id is None else frozenset({group_id}), owner_id=owner_id
        )
        chosen = (
            select(capabilities)
            .where(text(LIVE_DEFAULTS), _within(reach))
            .order_by(capabilities.c.ordering, capabilities.c.id)
        )
        async with self._database.read() as connection:
            return [Capability(**row) for row in await rows.many(connection, chosen)]

    async def update(
        self,
        capability_id: int,
        changes: Mapping[str, Any],
        *,
        expected_version: int | None = None,
        released_by: int | None = None,
    ) -> Capability:
        """`changes` may hold any field of CapabilityDraft, and `archived`."""
        values = rows.checked_changes(changes, _DRAFTED | {"archived"})
        async with self._database.write() as connection:
            before = await rows.find(connection, capabilities, capability_id)
            wanted = {**(before or {}), **values}
            if before is not None:
                await _check_owners(connection, wanted)
            with taken(_clash(wanted), hint="Change that one, or archive it first."):
                row = await rows.next_version(
                    connection,
                    capabilities,
                    capability_id,
                    {**values, "updated_at": self._database.now()},
                    expected=expected_version,
                )
            if row is None:
                raise rows.not_changed(
                    "capability",
                    capability_id,
                    expected=expected_version,
                    current=before and Capability(**before),
                )
            changed = Capability(**row)
            if "code" in values:
                await _write_codes(connection, changed)
            if released_by is not None and before is not None:
                source, now = f"{before['type']}:{capability_id}", self._database.now()
                await released(connection, source, user_id=released_by, now=now)
        return changed


def _within(reach: Reach) -> ColumnElement[bool]:
    if reach.agent_id is None:
        return _reached(reach)
    held = select(agent_capabilities.c.capability_id).where(
        agent_capabilities.c.agent_id == reach.agent_id
    )
    return and_(capabilities.c.id.in_(held), _reached(reach))


def _reached(reach: Reach) -> ColumnElement[bool]:
    if reach.everything:
        return true()
    kind = capabilities.c.access_type
    in_groups = true() if reach.every_group else capabilities.c.group_id.in_(reach.group_ids)
    owned = false() if reach.owner_id is None else capabilities.c.owner_id == reach.owner_id
    return or_(
        kind.in_(("system", "user")),
        and_(kind == "group", in_groups),
        and_(kind == "private", owned),
    )


async def _check_owners(connection: AsyncConnection, values: Mapping[str, Any]) -> None:
    """A group's row names a group that is there, a private one its owner."""
    for kind, field in (("group", "group_id"), ("private", "owner_id")):
        if values["access_type"] == kind and values[field] is None:
            raise InvalidRequest(
                f"A capability with access_type {kind!r} needs {field}.", where=field
            )
    for table, noun, field in ((groups, "group", "group_id"), (users, "user", "owner_id")):
        if values[field] is not None:
            await rows.require(connection, table, noun, [values[field]])


async def _write_codes(connection: AsyncConnection, row: Capability) -> None:
    await connection.execute(
        delete(capability_codes).where(capability_codes.c.capability_id == row.id)
    )
    if row.codes:
        await connection.execute(
            insert(capability_codes),
            [{"code": code, "capability_id": row.id} for code in row.codes],
        )


def _clash(values: Mapping[str, Any]) -> str:
    kind = values.get("access_type")
    whose = {
        "group": f" of group {values.get('group_id')}",
        "private": f" of user {values.get('owner_id')}",
    }.get(str(kind), "")
    return (
        f"A capability with code {values.get('code')!r} and access_type {kind!r}{whose} "
        "is already there."
    )
