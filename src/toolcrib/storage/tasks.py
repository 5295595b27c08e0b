"""This module keeps the task lists of chats."""

from __future__ import annotations

from collections.abc import Sequence

from sqlalchemy import delete, func, insert, select, update
from sqlalchemy.ext.asyncio import AsyncConnection

from toolcrib.agents.tasks import MOST_TASKS, Task, TaskStatus
from toolcrib.errors import InvalidRequest, NotFound
from toolcrib.storage import rows
from toolcrib.storage.database import Database
from toolcrib.storage.tables_chats import chats, tasks


class SqlTaskStore:
    """TaskStore in SQL."""

    def __init__(self, database: Database) -> None:
        self._database = database

    async def list(self, chat_id: int) -> Sequence[Task]:
        async with self._database.read() as connection:
            return await _tasks(connection, chat_id)

    async def add(self, chat_id: int, section: str, contents: Sequence[str]) -> Sequence[Task]:
        moment = self._database.now()
        async with self._database.write() as connection:
            await _lock(connection, chat_id)
            counted = select(func.count()).where(tasks.c.chat_id == chat_id)
            if (await connection.scalar(counted) or 0) + len(contents) > MOST_TASKS:
                raise InvalidRequest(
                    f"A chat has at most {MOST_TASKS} tasks.", hint="Delete some that are done."
                )
            made: list[Task] = []
            for content in contents:
                statement = (
                    insert(tasks)
                    .values(
                        chat_id=chat_id,
                        section=section,
                        content=content,
                        status="pending",
                        created_at=moment,
                        updated_at=moment,
                    )
                    .returning(*tasks.c)
                )
                made.append(Task(**await rows.one(connection, statement)))
            return made

    async def update(
        self,
        chat_id: int,
        ids: Sequence[int],
        *,
        content: str | None = None,
        status: TaskStatus | None = None,
        section: str | None = None,
    ) -> Sequence[Task]:
        given = {"content": content, "status": status, "section": section}
        values = {name: value for name, value in given.items() if value is not None}
        async with self._database.write() as connection:
            await _require(connection, chat_id, ids)
            await connection.execute(
                update(tasks)
                .where(tasks.c.chat_id == chat_id, tasks.c.id.in_(ids))
                .values(**values, updated_at=self._database.now())
            )
            return [task for task in await _tasks(connection, chat_id) if task.id in ids]

    async def delete(self, chat_id: int, ids: Sequence[int]) -> None:
        async with self._database.write() as connection:
            await _require(connection, chat_id, ids)
            await connection.execute(
                delete(tasks).where(tasks.c.chat_id == chat_id, tasks.c.id.in_(ids))
            )

    async def clear(self, chat_id: int) -> int:
        async with self._database.write() as connection:
            return await rows.affected(connection, delete(tasks).where(tasks.c.chat_id == chat_id))


async def _lock(connection: AsyncConnection, chat_id: int) -> None:
    """Two who add at once count one after the other. Raises NotFound."""
    held = select(chats.c.id).where(chats.c.id == chat_id).with_for_update()
    if await connection.scalar(held) is None:
        raise NotFound(f"There is no chat {chat_id}.")


async def _tasks(connection: AsyncConnection, chat_id: int) -> list[Task]:
    chosen = select(tasks).where(tasks.c.chat_id == chat_id).order_by(tasks.c.id)
    return [Task(**row) for row in await rows.many(connection, chosen)]


async def _require(connection: AsyncConnection, chat_id: int, ids: Sequence[int]) -> None:
    chosen = select(tasks.c.id).where(tasks.c.chat_id == chat_id, tasks.c.id.in_(ids))
    present = set((await connection.execute(chosen)).scalars())
    for one in ids:
        if one not in present:
            raise NotFound(f"This chat has no task {one}.")
