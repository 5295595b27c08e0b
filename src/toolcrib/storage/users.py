"""This module keeps users, the groups they belong to and the hashes of their passwords."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from typing import Any

from sqlalchemy import RowMapping, delete, func, insert, or_, select, update
from sqlalchemy.ext.asyncio import AsyncConnection

from toolcrib.errors import NotFound
from toolcrib.identity.accounts import User
from toolcrib.identity.roles import Role
from toolcrib.storage import rows
from toolcrib.storage.database import Database
from toolcrib.storage.failures import taken
from toolcrib.storage.tables import groups, memberships, users


class SqlUserStore:
    """UserStore in SQL. Names are unique, and found, without regard to case."""

    def __init__(self, database: Database) -> None:
        self._database = database

    async def create(
        self,
        *,
        name: str,
        role: Role,
        group_ids: frozenset[int],
        entitlements: frozenset[str],
        password_hash: str | None = None,
    ) -> User:
        statement = (
            insert(users)
            .values(
                name=name,
                name_key=rows.name_key(name),
                role=role.value,
                entitlements=sorted(entitlements),
                password_hash=password_hash,
                created_at=self._database.now(),
            )
            .returning(*users.c)
        )
        async with self._database.write() as connection:
            await rows.require(connection, groups, "group", group_ids)
            with taken(f"A user named {name!r} is already there.", hint="Choose another name."):
                row = await rows.one(connection, statement)
                await _join(connection, row["id"], group_ids)
        return _user(row, group_ids)

    async def find(self, user_id: int) -> User | None:
        async with self._database.read() as connection:
            return await _find(connection, user_id)

    async def find_by_name(self, name: str) -> User | None:
        chosen = select(users).where(users.c.name_key == rows.name_key(name))
        async with self._database.read() as connection:
            found = await rows.many(connection, chosen)
            return next(iter(await _with_groups(connection, found)), None)

    async def list(
        self,
        *,
        group_ids: frozenset[int] | None = None,
        ids: frozenset[int] | None = None,
        after: int = 0,
        limit: int = 200,
    ) -> Sequence[User]:
        chosen = select(users).where(users.c.id > after).order_by(users.c.id).limit(limit)
        if group_ids is not None or ids is not None:
            members = select(memberships.c.user_id).where(
                memberships.c.group_id.in_(group_ids or ())
            )
            chosen = chosen.where(or_(users.c.id.in_(members), users.c.id.in_(ids or ())))
        async with self._database.read() as connection:
            return await _with_groups(connection, await rows.many(connection, chosen))

    async def update(
        self,
        user_id: int,
        *,
        expected_version: int | None = None,
        role: Role | None = None,
        group_ids: frozenset[int] | None = None,
        entitlements: frozenset[str] | None = None,
    ) -> User:
        values: dict[str, Any] = {}
        if role is not None:
            values["role"] = role.value
        if entitlements is not None:
            values["entitlements"] = sorted(entitlements)
        async with self._database.write() as connection:
            row = await rows.next_version(
                connection, users, user_id, values, expected=expected_version
            )
            if row is None:
                current = await _find(connection, user_id)
                raise rows.not_changed("user", user_id, expected=expected_version, current=current)
            if group_ids is not None:
                await rows.require(connection, groups, "group", group_ids)
                await connection.execute(
                    delete(memberships).where(memberships.c.user_id == user_id)
                )
                await _join(connection, user_id, group_ids)
            return (await _with_groups(connection, [row]))[0]

    async def set_password(self, user_id: int, password_hash: str) -> None:
        """Raises NotFound."""
        statement = update(users).where(users.c.id == user_id).values(password_hash=password_hash)
        async with self._database.write() as connection:
            if await rows.affected(connection, statement) == 0:
                raise NotFound.of(f"user {user_id}")

    async def password_hash(self, user_id: int) -> str | None:
        chosen = select(users.c.password_hash).where(users.c.id == user_id)
        async with self._database.read() as connection:
            return (await connection.execute(chosen)).scalar_one_or_none()

    async def count(self) -> int:
        async with self._database.read() as connection:
            return (await connection.execute(select(func.count()).select_from(users))).scalar_one()


async def _find(connection: AsyncConnection, user_id: int) -> User | None:
    row = await rows.find(connection, users, user_id)
    return (await _with_groups(connection, [row]))[0] if row else None


async def _join(connection: AsyncConnection, user_id: int, group_ids: Collection[int]) -> None:
    if group_ids:
        await connection.execute(
            insert(memberships), [{"user_id": user_id, "group_id": one} for one in group_ids]
        )


async def _with_groups(connection: AsyncConnection, found: Sequence[RowMapping]) -> list[User]:
    chosen = select(memberships).where(memberships.c.user_id.in_([row["id"] for row in found]))
    of: dict[int, set[int]] = {row["id"]: set() for row in found}
    for link in await rows.many(connection, chosen) if found else ():
        of[link["user_id"]].add(link["group_id"])
    return [_user(row, of[row["id"]]) for row in found]


def _user(row: RowMapping, group_ids: Collection[int]) -> User:
    return User(
        id=row["id"],
        name=row["name"],
        role=Role(row["role"]),
        group_ids=frozenset(group_ids),
        entitlements=frozenset(row["entitlements"]),
        created_at=row["created_at"],
        has_password=row["password_hash"] is not None,
        version=row["version"],
    )
