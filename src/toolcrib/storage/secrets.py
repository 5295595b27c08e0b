"""This module keeps the vault's secrets, sealed: the store never sees a value."""

from __future__ import annotations

from collections.abc import Sequence

from sqlalchemy import RowMapping, delete, select, update

from toolcrib.secrets.vault import SealedSecret
from toolcrib.storage import rows
from toolcrib.storage.database import Database
from toolcrib.storage.tables import secrets


class SqlSecretStore:
    """SecretStore in SQL."""

    def __init__(self, database: Database) -> None:
        self._database = database

    async def put(self, *, name: str, sealed: bytes, hosts: Sequence[str]) -> None:
        new = {"sealed": sealed, "hosts": list(hosts), "updated_at": self._database.now()}
        statement = rows.upsert(
            secrets,
            {"name": name, **new},
            key=["name"],
            otherwise=new,
            kind=self._database.address.kind,
        )
        async with self._database.write() as connection:
            await connection.execute(statement)

    async def find(self, name: str) -> SealedSecret | None:
        async with self._database.read() as connection:
            row = await rows.maybe(connection, select(secrets).where(secrets.c.name == name))
        return _secret(row) if row else None

    async def list(self, *, after: str = "", limit: int = 200) -> Sequence[SealedSecret]:
        chosen = select(secrets).where(secrets.c.name > after).order_by(secrets.c.name).limit(limit)
        async with self._database.read() as connection:
            return [_secret(row) for row in await rows.many(connection, chosen)]

    async def delete(self, name: str) -> bool:
        statement = delete(secrets).where(secrets.c.name == name)
        async with self._database.write() as connection:
            return await rows.affected(connection, statement) > 0

    async def every(self) -> Sequence[SealedSecret]:
        async with self._database.read() as connection:
            found = await rows.many(connection, select(secrets).order_by(secrets.c.name))
        return [_secret(row) for row in found]

    async def replace_sealed(self, rows: Sequence[SealedSecret]) -> None:
        """A secret that was changed or deleted since it was read keeps what it has now."""
        async with self._database.write() as connection:
            for one in rows:
                await connection.execute(
                    update(secrets)
                    .where(secrets.c.name == one.name, secrets.c.updated_at == one.updated_at)
                    .values(sealed=one.sealed)
                )


def _secret(row: RowMapping) -> SealedSecret:
    return SealedSecret(
        name=row["name"],
        sealed=row["sealed"],
        hosts=tuple(row["hosts"]),
        updated_at=row["updated_at"],
    )
