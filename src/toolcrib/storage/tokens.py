"""This module keeps tokens: their digests, never the tokens themselves."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime

from sqlalchemy import delete, insert, select

from toolcrib.identity.accounts import Token
from toolcrib.storage import rows
from toolcrib.storage.database import Database
from toolcrib.storage.failures import taken
from toolcrib.storage.tables import agents, tokens, users

_SHOWN = [column for column in tokens.c if column.name != "digest"]


class SqlTokenStore:
    """TokenStore in SQL. An agent's or user's tokens go with it."""

    def __init__(self, database: Database) -> None:
        self._database = database

    async def create(
        self,
        *,
        token_id: str,
        digest: str,
        user_id: int,
        name: str,
        expires_at: datetime | None = None,
        agent_id: int | None = None,
    ) -> Token:
        """Raises NotFound for a user or agent that is not there, Conflict for an id in use."""
        statement = (
            insert(tokens)
            .values(
                id=token_id,
                digest=digest,
                user_id=user_id,
                name=name,
                created_at=self._database.now(),
                expires_at=expires_at,
                agent_id=agent_id,
            )
            .returning(*_SHOWN)
        )
        async with self._database.write() as connection:
            await rows.require(connection, users, "user", [user_id])
            await rows.require(connection, agents, "agent", [] if agent_id is None else [agent_id])
            with taken(f"The token {token_id!r} is already there."):
                return Token(**await rows.one(connection, statement))

    async def find_by_digest(self, digest: str) -> Token | None:
        async with self._database.read() as connection:
            row = await rows.maybe(connection, select(*_SHOWN).where(tokens.c.digest == digest))
        return Token(**row) if row else None

    async def list(self, user_id: int) -> Sequence[Token]:
        """Oldest first."""
        chosen = (
            select(*_SHOWN)
            .where(tokens.c.user_id == user_id)
            .order_by(tokens.c.created_at, tokens.c.id)
        )
        async with self._database.read() as connection:
            return [Token(**row) for row in await rows.many(connection, chosen)]

    async def delete(self, token_id: str, *, user_id: int | None = None) -> bool:
        statement = delete(tokens).where(tokens.c.id == token_id)
        if user_id is not None:
            statement = statement.where(tokens.c.user_id == user_id)
        async with self._database.write() as connection:
            return await rows.affected(connection, statement) > 0
