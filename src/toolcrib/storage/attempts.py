"""This module keeps logins that were begun and not confirmed; every step is one statement."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Any

from sqlalchemy import ColumnElement, RowMapping, and_, delete, select, update

from toolcrib.secrets.attempts import Attempt
from toolcrib.secrets.logins import Login, LoginDraft, LoginOwner
from toolcrib.storage import rows
from toolcrib.storage.database import Database
from toolcrib.storage.logins import put_login
from toolcrib.storage.tables_logins import login_attempts as attempts

_KEY = ("begun_by", "ref", "owner")


class SqlAttemptStore:
    """AttemptStore in SQL."""

    def __init__(self, database: Database) -> None:
        self._database = database

    async def remember(self, attempt: Attempt) -> Attempt | None:
        row = _row_of(attempt)
        written = rows.upsert(
            attempts,
            row,
            key=_KEY,
            otherwise={name: value for name, value in row.items() if name not in _KEY},
            kind=self._database.address.kind,
        )
        here = _is(attempt.user_id, attempt.ref, attempt.owner)
        older = delete(attempts).where(here).returning(*attempts.c)
        async with self._database.write() as connection:
            found = await rows.maybe(connection, older)
            await connection.execute(written)
        return _attempt(found) if found else None

    async def find(self, digest: str) -> Attempt | None:
        return await self._read(attempts.c.digest == digest)

    async def of(self, user_id: int, ref: str, owner: LoginOwner) -> Attempt | None:
        return await self._read(_is(user_id, ref, owner))

    async def open(self, digest: str, *, state: str, browser: str, sealed: bytes) -> bool:
        here = and_(attempts.c.digest == digest, attempts.c.stage.in_(("begun", "opened")))
        values = {"stage": "opened", "state": state, "browser": browser, "sealed": sealed}
        return await self._changed(here, values) is not None

    async def claim(self, state: str) -> Attempt | None:
        here = and_(attempts.c.state == state, attempts.c.stage == "opened")
        return await self._changed(here, {"stage": "asking", "state": None})

    async def answer(self, digest: str, *, sealed: bytes, until: datetime) -> bool:
        here = and_(attempts.c.digest == digest, attempts.c.stage == "asking")
        values = {"stage": "answered", "sealed": sealed, "expires_at": until}
        return await self._changed(here, values) is not None

    async def try_once(
        self, user_id: int, ref: str, owner: LoginOwner, *, most: int
    ) -> Attempt | None:
        here = and_(
            _is(user_id, ref, owner), attempts.c.stage == "answered", attempts.c.tries < most
        )
        return await self._changed(here, {"tries": attempts.c.tries + 1})

    async def admit(self, digest: str, draft: LoginDraft) -> Login | None:
        here = and_(attempts.c.digest == digest, attempts.c.stage == "answered", self._lives())
        async with self._database.write() as connection:
            row = await rows.maybe(connection, delete(attempts).where(here).returning(*attempts.c))
            if row is None:
                return None
            attempt = _attempt(row)
            return await put_login(self._database, connection, attempt.ref, attempt.owner, draft)

    async def drop(self, digest: str) -> Attempt | None:
        statement = delete(attempts).where(attempts.c.digest == digest).returning(*attempts.c)
        async with self._database.write() as connection:
            row = await rows.maybe(connection, statement)
        return _attempt(row) if row else None

    async def sweep(self) -> Sequence[Attempt]:
        old = attempts.c.expires_at <= self._database.now()
        async with self._database.read() as connection:
            if not await rows.many(connection, select(attempts.c.digest).where(old).limit(1)):
                return []
        async with self._database.write() as connection:
            found = await rows.many(connection, delete(attempts).where(old).returning(*attempts.c))
        return [_attempt(row) for row in found]

    async def _read(self, here: ColumnElement[bool]) -> Attempt | None:
        async with self._database.read() as connection:
            row = await rows.maybe(connection, select(attempts).where(here, self._lives()))
        return _attempt(row) if row else None

    async def _changed(
        self, here: ColumnElement[bool], values: Mapping[str, Any]
    ) -> Attempt | None:
        statement = update(attempts).where(here, self._lives()).values(**values)
        async with self._database.write() as connection:
            row = await rows.maybe(connection, statement.returning(*attempts.c))
        return _attempt(row) if row else None

    def _lives(self) -> ColumnElement[bool]:
        return attempts.c.expires_at > self._database.now()


def _is(user_id: int, ref: str, owner: LoginOwner) -> ColumnElement[bool]:
    return and_(
        attempts.c.begun_by == user_id, attempts.c.ref == ref, attempts.c.owner == owner.key
    )


def _row_of(attempt: Attempt) -> dict[str, Any]:
    return {
        "begun_by": attempt.user_id,
        "ref": attempt.ref,
        "owner": attempt.owner.key,
        "label": attempt.label,
        "user_id": attempt.owner.user_id,
        "group_id": attempt.owner.group_id,
        "digest": attempt.digest,
        "stage": attempt.stage,
        "state": None,
        "browser": attempt.browser,
        "tries": attempt.tries,
        "sealed": attempt.sealed,
        "expires_at": attempt.expires_at,
    }


def _attempt(row: RowMapping) -> Attempt:
    return Attempt(
        digest=row["digest"],
        user_id=row["begun_by"],
        ref=row["ref"],
        label=row["label"],
        owner=LoginOwner(user_id=row["user_id"], group_id=row["group_id"]),
        sealed=row["sealed"],
        expires_at=row["expires_at"],
        stage=row["stage"],
        browser=row["browser"],
        tries=row["tries"],
    )
