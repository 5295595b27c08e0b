"""This module keeps what agents remember of users."""

from __future__ import annotations

from collections.abc import Sequence

from sqlalchemy import delete, func, insert, select

from toolcrib.agents.memories import MOST_MEMORIES, Memory
from toolcrib.errors import InvalidRequest, NotFound
from toolcrib.storage import rows
from toolcrib.storage.database import Database
from toolcrib.storage.tables import users
from toolcrib.storage.tables_chats import memories


class SqlMemoryStore:
    """MemoryStore in SQL."""

    def __init__(self, database: Database) -> None:
        self._database = database

    async def list(self, user_id: int) -> Sequence[Memory]:
        chosen = select(memories).where(memories.c.user_id == user_id).order_by(memories.c.id)
        async with self._database.read() as connection:
            return [Memory(**row) for row in await rows.many(connection, chosen)]

    async def add(self, user_id: int, content: str) -> Memory:
        statement = (
            insert(memories)
            .values(user_id=user_id, content=content, created_at=self._database.now())
            .returning(*memories.c)
        )
        async with self._database.write() as connection:
            # Two who add at once count one after the other.
            held = select(users.c.id).where(users.c.id == user_id).with_for_update()
            if await connection.scalar(held) is None:
                raise NotFound(f"There is no user {user_id}.")
            counted = select(func.count()).where(memories.c.user_id == user_id)
            if (await connection.scalar(counted) or 0) >= MOST_MEMORIES:
                raise InvalidRequest(
                    f"A user has at most {MOST_MEMORIES} memories.", hint="Forget some first."
                )
            return Memory(**await rows.one(connection, statement))

    async def delete(self, user_id: int, memory_id: int) -> bool:
        statement = delete(memories).where(
            memories.c.user_id == user_id, memories.c.id == memory_id
        )
        async with self._database.write() as connection:
            return await rows.affected(connection, statement) > 0
