"""This module keeps settings, sealed: the store never sees a value."""

from __future__ import annotations

from collections.abc import Sequence

from sqlalchemy import ColumnElement, RowMapping, case, delete, func, or_, select, tuple_, update

from toolcrib.secrets.settings import SealedSetting, SettingOwner
from toolcrib.storage import rows
from toolcrib.storage.database import Database
from toolcrib.storage.failures import taken
from toolcrib.storage.tables import groups, settings, users

_KIND = case((settings.c.user_id.is_not(None), 0), else_=1)
_OWNER = func.coalesce(settings.c.user_id, settings.c.group_id)


class SqlSettingStore:
    """SettingStore in SQL."""

    def __init__(self, database: Database) -> None:
        self._database = database

    async def put(
        self, *, name: str, owner: SettingOwner, sealed: bytes, hosts: Sequence[str]
    ) -> None:
        """Make it or replace it. Raises NotFound for an owner that is not there."""
        new = {"sealed": sealed, "hosts": list(hosts), "updated_at": self._database.now()}
        column = settings.c.group_id if owner.user_id is None else settings.c.user_id
        statement = rows.upsert(
            settings,
            {"name": name, "user_id": owner.user_id, "group_id": owner.group_id, **new},
            key=[column.name, "name"],
            where=column.is_not(None),
            otherwise=new,
            kind=self._database.address.kind,
        )
        async with self._database.write() as connection:
            if owner.user_id is not None:
                await rows.require(connection, users, "user", [owner.user_id])
            if owner.group_id is not None:
                await rows.require(connection, groups, "group", [owner.group_id])
            with taken(f"The setting {name!r} is already there."):
                await connection.execute(statement)

    async def find(self, name: str, owner: SettingOwner) -> SealedSetting | None:
        chosen = select(settings).where(settings.c.name == name, _of([owner]))
        async with self._database.read() as connection:
            row = await rows.maybe(connection, chosen)
        return _setting(row) if row else None

    async def list(
        self, owners: Sequence[SettingOwner], *, after: str = "", limit: int = 200
    ) -> Sequence[SealedSetting]:
        """`after` is a name, or a setting's `place`: then the same name's next owner follows."""
        chosen = (
            select(settings)
            .where(_of(owners), _beyond(after))
            .order_by(settings.c.name, _KIND, _OWNER)
            .limit(limit)
        )
        async with self._database.read() as connection:
            return [_setting(row) for row in await rows.many(connection, chosen)]

    async def names(self, owners: Sequence[SettingOwner]) -> frozenset[str]:
        async with self._database.read() as connection:
            found = await rows.many(connection, select(settings.c.name).where(_of(owners)))
        return frozenset(row["name"] for row in found)

    async def delete(self, name: str, owner: SettingOwner) -> bool:
        statement = delete(settings).where(settings.c.name == name, _of([owner]))
        async with self._database.write() as connection:
            return await rows.affected(connection, statement) > 0

    async def every(self) -> Sequence[SealedSetting]:
        async with self._database.read() as connection:
            found = await rows.many(connection, select(settings).order_by(settings.c.id))
            return [_setting(row) for row in found]

    async def replace_sealed(self, rows: Sequence[SealedSetting]) -> None:
        """A row that was changed or deleted since it was read keeps what it has now."""
        async with self._database.write() as connection:
            for one in rows:
                await connection.execute(
                    update(settings)
                    .where(
                        settings.c.name == one.name,
                        _of([one.owner]),
                        settings.c.updated_at == one.updated_at,
                    )
                    .values(sealed=one.sealed)
                )


def _of(owners: Sequence[SettingOwner]) -> ColumnElement[bool]:
    user_ids = [one.user_id for one in owners if one.user_id is not None]
    group_ids = [one.group_id for one in owners if one.group_id is not None]
    return or_(settings.c.user_id.in_(user_ids), settings.c.group_id.in_(group_ids))


def _beyond(after: str) -> ColumnElement[bool]:
    name, _, rest = after.partition(":")
    kind, _, owner = rest.partition(":")
    if kind not in {"user", "group"} or not owner.isdecimal():
        return settings.c.name > after
    return tuple_(settings.c.name, _KIND, _OWNER) > tuple_(name, int(kind == "group"), int(owner))


def _setting(row: RowMapping) -> SealedSetting:
    return SealedSetting(
        name=row["name"],
        owner=SettingOwner(user_id=row["user_id"], group_id=row["group_id"]),
        sealed=row["sealed"],
        hosts=tuple(row["hosts"]),
        updated_at=row["updated_at"],
    )
