"""This module keeps groups."""

from __future__ import annotations

from collections.abc import Sequence

from sqlalchemy import RowMapping, insert, select

from toolcrib.identity.accounts import Group
from toolcrib.storage import rows
from toolcrib.storage.database import Database
from toolcrib.storage.failures import taken
from toolcrib.storage.tables import groups


class SqlGroupStore:
    """GroupStore in SQL. Names are unique without regard to case."""

    def __init__(self, database: Database) -> None:
        self._database = database

    async def create(self, *, name: str) -> Group:
        statement = (
            insert(groups)
            .values(name=name, name_key=rows.name_key(name), created_at=self._database.now())
            .returning(*groups.c)
        )
        async with self._database.write() as connection:
            with taken(f"A group named {name!r} is already there.", hint="Choose another name."):
                return _group(await rows.one(connection, statement))

    async def find(self, group_id: int) -> Group | None:
        async with self._database.read() as connection:
            row = await rows.find(connection, groups, group_id)
        return _group(row) if row else None

    async def list(
        self, *, ids: frozenset[int] | None = None, after: int = 0, limit: int = 200
    ) -> Sequence[Group]:
        chosen = select(groups).where(groups.c.id > after).order_by(groups.c.id).limit(limit)
        if ids is not None:
            chosen = chosen.where(groups.c.id.in_(ids))
        async with self._database.read() as connection:
            return [_group(row) for row in await rows.many(connection, chosen)]


def _group(row: RowMapping) -> Group:
    return Group(
        id=row["id"], name=row["name"], created_at=row["created_at"], version=row["version"]
    )
