"""This module keeps keys of requests: of all that take one, in whichever process, one gets it."""

from __future__ import annotations

from datetime import datetime
from importlib import import_module

from sqlalchemy import and_, delete, func, select, update

from toolcrib.invocation.repeats import Kept
from toolcrib.storage import rows
from toolcrib.storage.database import Database
from toolcrib.storage.tables_repeats import repeats


class SqlRepeatStore:
    """RepeatStore in SQL."""

    def __init__(self, database: Database) -> None:
        self._database = database

    async def begin(
        self,
        digest: str,
        *,
        user_id: int,
        holder: str,
        sealed: bytes,
        leased_until: datetime,
        expires_at: datetime,
    ) -> Kept | None:
        dialect = import_module(f"sqlalchemy.dialects.{self._database.address.kind}")
        taking = (
            dialect.insert(repeats)
            .values(
                digest=digest,
                user_id=user_id,
                holder=holder,
                sealed=sealed,
                done=False,
                leased_until=leased_until,
                expires_at=expires_at,
            )
            .on_conflict_do_nothing(index_elements=["digest"])
            .returning(repeats.c.digest)
        )
        here = repeats.c.digest == digest
        ended = and_(here, repeats.c.expires_at <= self._database.now())
        while True:
            async with self._database.write() as connection:
                await connection.execute(delete(repeats).where(ended))
                if await rows.maybe(connection, taking) is not None:
                    return None
                row = await rows.maybe(connection, select(repeats).where(here))
            if row is not None:  # else whoever had it let it go just now
                return Kept(**{name: row[name] for name in ("sealed", "done", "leased_until")})

    async def count(self, user_id: int) -> int:
        of_user = select(func.count()).select_from(repeats).where(repeats.c.user_id == user_id)
        async with self._database.read() as connection:
            return await connection.scalar(of_user) or 0

    async def finish(self, digest: str, *, holder: str, sealed: bytes) -> bool:
        mine = and_(repeats.c.digest == digest, repeats.c.holder == holder)
        statement = update(repeats).where(mine).values(sealed=sealed, done=True)
        async with self._database.write() as connection:
            return await rows.affected(connection, statement) > 0

    async def forget(self, digest: str, *, holder: str) -> None:
        mine = and_(repeats.c.digest == digest, repeats.c.holder == holder)
        async with self._database.write() as connection:
            await connection.execute(delete(repeats).where(mine))

    async def sweep(self) -> int:
        ended = repeats.c.expires_at <= self._database.now()
        async with self._database.write() as connection:
            return await rows.affected(connection, delete(repeats).where(ended))
