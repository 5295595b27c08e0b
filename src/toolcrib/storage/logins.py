"""This module keeps logins at other servers: sealed, leased by one process at a time."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import fields
from datetime import datetime
from typing import Any

from sqlalchemy import ColumnElement, RowMapping, and_, delete, or_, select, update
from sqlalchemy.ext.asyncio import AsyncConnection

from toolcrib.secrets.logins import Login, LoginDraft, LoginOwner
from toolcrib.storage import rows
from toolcrib.storage.database import Database
from toolcrib.storage.tables import groups, users
from toolcrib.storage.tables_logins import login_clients, logins

_DRAFTED = tuple(field.name for field in fields(LoginDraft))
_NO_LEASE: dict[str, Any] = {"leased_by": None, "leased_until": None}


class SqlLoginStore:
    """LoginStore in SQL."""

    def __init__(self, database: Database) -> None:
        self._database = database

    async def find(self, ref: str, owner: LoginOwner) -> Login | None:
        async with self._database.read() as connection:
            row = await rows.maybe(connection, select(logins).where(_is(ref, owner)))
        return _login(row) if row else None

    async def list(self, owners: Sequence[LoginOwner]) -> Sequence[Login]:
        """By ref, then by owner."""
        chosen = (
            select(logins)
            .where(logins.c.owner.in_([owner.key for owner in owners]))
            .order_by(logins.c.ref, logins.c.owner)
        )
        async with self._database.read() as connection:
            return [_login(row) for row in await rows.many(connection, chosen)]

    async def put(self, ref: str, owner: LoginOwner, draft: LoginDraft) -> Login:
        """Raises NotFound for an owner that is not there."""
        async with self._database.write() as connection:
            return await put_login(self._database, connection, ref, owner, draft)

    async def begin(self, ref: str, owner: LoginOwner, draft: LoginDraft) -> None:
        statement = rows.upsert(
            logins,
            {**_key(ref, owner), **_values(self._database, draft), "version": 1},
            key=["ref", "owner"],
            otherwise={"version": logins.c.version},
            kind=self._database.address.kind,
        )
        async with self._database.write() as connection:
            await connection.execute(statement)

    async def lease(self, login: Login, *, holder: str, until: datetime) -> bool:
        now = self._database.now()
        free = or_(logins.c.leased_until.is_(None), logins.c.leased_until <= now)
        statement = (
            update(logins)
            .where(_is(login.ref, login.owner), logins.c.version == login.version, free)
            .values(leased_by=holder, leased_until=until)
        )
        async with self._database.write() as connection:
            return await rows.affected(connection, statement) > 0

    async def settle(self, login: Login, draft: LoginDraft, *, holder: str) -> bool:
        statement = (
            update(logins)
            .where(_held(login, holder))
            .values(**_values(self._database, draft), **_NO_LEASE, version=logins.c.version + 1)
        )
        async with self._database.write() as connection:
            return await rows.affected(connection, statement) > 0

    async def release(self, login: Login, *, holder: str) -> None:
        statement = update(logins).where(_held(login, holder)).values(**_NO_LEASE)
        async with self._database.write() as connection:
            await connection.execute(statement)

    async def delete(self, ref: str, owner: LoginOwner) -> bool:
        async with self._database.write() as connection:
            return await rows.affected(connection, delete(logins).where(_is(ref, owner))) > 0

    async def want(self, login: Login, scopes: Sequence[str]) -> None:
        statement = (
            update(logins)
            .where(_is(login.ref, login.owner), logins.c.made == login.made)
            .values(more_scopes=list(scopes))
        )
        async with self._database.write() as connection:
            await connection.execute(statement)

    async def client(self, issuer: str, redirect_uri: str) -> bytes | None:
        chosen = select(login_clients.c.sealed).where(_at(issuer, redirect_uri))
        async with self._database.read() as connection:
            return (await connection.execute(chosen)).scalar_one_or_none()

    async def keep_client(self, issuer: str, redirect_uri: str, sealed: bytes) -> None:
        statement = rows.upsert(
            login_clients,
            {"issuer": issuer, "redirect_uri": redirect_uri, "sealed": sealed},
            key=["issuer", "redirect_uri"],
            otherwise={"sealed": sealed},
            kind=self._database.address.kind,
        )
        async with self._database.write() as connection:
            await connection.execute(statement)

    async def forget_client(self, issuer: str, redirect_uri: str) -> None:
        async with self._database.write() as connection:
            await connection.execute(delete(login_clients).where(_at(issuer, redirect_uri)))

    async def sealed(self) -> Sequence[tuple[str, bytes]]:
        async with self._database.read() as connection:
            found = await rows.many(
                connection,
                select(logins.c.ref, logins.c.owner, logins.c.sealed)
                .where(logins.c.sealed.is_not(None))
                .order_by(logins.c.ref, logins.c.owner),
            )
            known = await rows.many(connection, select(login_clients))
        return [(f"login {row['ref']} {row['owner']}", row["sealed"]) for row in found] + [
            (f"client {row['issuer']} {row['redirect_uri']}", row["sealed"]) for row in known
        ]

    async def replace_sealed(self, place: str, *, before: bytes, after: bytes) -> None:
        kind, one, other = place.split(" ", 2)
        table, here = (logins, and_(logins.c.ref == one, logins.c.owner == other))
        if kind == "client":
            table, here = login_clients, _at(one, other)
        statement = update(table).where(here, table.c.sealed == before).values(sealed=after)
        async with self._database.write() as connection:
            await connection.execute(statement)


async def put_login(
    database: Database, connection: AsyncConnection, ref: str, owner: LoginOwner, draft: LoginDraft
) -> Login:
    """Make a login or replace it, within a transaction. Raises NotFound for an owner that is not
    there."""
    values = _values(database, draft)
    statement = rows.upsert(
        logins,
        {**_key(ref, owner), **values, "version": 1},
        key=["ref", "owner"],
        otherwise={**values, **_NO_LEASE, "more_scopes": None, "version": logins.c.version + 1},
        kind=database.address.kind,
    ).returning(*logins.c)
    await rows.require(connection, users, "user", _given(owner.user_id))
    await rows.require(connection, groups, "group", _given(owner.group_id))
    return _login(await rows.one(connection, statement))


def _values(database: Database, draft: LoginDraft) -> dict[str, Any]:
    values = {name: getattr(draft, name) for name in _DRAFTED}
    return {**values, "scopes": list(draft.scopes), "updated_at": database.now()}


def _key(ref: str, owner: LoginOwner) -> dict[str, Any]:
    return {
        "ref": ref,
        "owner": owner.key,
        "user_id": owner.user_id,
        "group_id": owner.group_id,
    }


def _is(ref: str, owner: LoginOwner) -> ColumnElement[bool]:
    return and_(logins.c.ref == ref, logins.c.owner == owner.key)


def _held(login: Login, holder: str) -> ColumnElement[bool]:
    return and_(
        _is(login.ref, login.owner),
        logins.c.version == login.version,
        logins.c.leased_by == holder,
    )


def _at(issuer: str, redirect_uri: str) -> ColumnElement[bool]:
    return and_(login_clients.c.issuer == issuer, login_clients.c.redirect_uri == redirect_uri)


def _given(number: int | None) -> list[int]:
    return [] if number is None else [number]


def _login(row: RowMapping) -> Login:
    return Login(
        ref=row["ref"],
        owner=LoginOwner(user_id=row["user_id"], group_id=row["group_id"]),
        issuer=row["issuer"],
        resource=row["resource"],
        scopes=tuple(row["scopes"]),
        status=row["status"],
        error=row["error"],
        expires_at=row["expires_at"],
        renewable=row["renewable"],
        sealed=row["sealed"],
        made=row["made"],
        more_scopes=tuple(row["more_scopes"] or ()),
        version=row["version"],
        updated_at=row["updated_at"],
    )
