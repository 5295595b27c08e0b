"""This module keeps chats and their messages."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from sqlalchemy import delete, insert, select, update
from sqlalchemy.ext.asyncio import AsyncConnection

from toolcrib.agents.chats import Chat, Message, MessageRole
from toolcrib.errors import NotFound
from toolcrib.storage import rows
from toolcrib.storage.database import Database
from toolcrib.storage.failures import taken
from toolcrib.storage.tables import agents, groups, users
from toolcrib.storage.tables_chats import chats, messages


class SqlChatStore:
    """ChatStore in SQL. Lists are by id, oldest first."""

    def __init__(self, database: Database) -> None:
        self._database = database

    async def create(
        self,
        *,
        uuid: str,
        user_id: int,
        agent_id: int,
        group_id: int | None,
        context: Mapping[str, Any],
    ) -> Chat:
        """Raises NotFound for a user, agent or group that is not there, Conflict for the uuid."""
        statement = (
            insert(chats)
            .values(
                uuid=uuid,
                user_id=user_id,
                agent_id=agent_id,
                group_id=group_id,
                context=context,
                created_at=self._database.now(),
            )
            .returning(*chats.c)
        )
        async with self._database.write() as connection:
            await rows.require(connection, users, "user", [user_id])
            await rows.require(connection, agents, "agent", [agent_id])
            await rows.require(connection, groups, "group", [] if group_id is None else [group_id])
            with taken(f"The chat {uuid!r} is already there."):
                return Chat(**await rows.one(connection, statement))

    async def find(self, chat_id: int) -> Chat | None:
        async with self._database.read() as connection:
            row = await rows.find(connection, chats, chat_id)
        return Chat(**row) if row else None

    async def list(
        self, user_id: int | None, *, agent_id: int | None = None, after: int = 0, limit: int = 200
    ) -> Sequence[Chat]:
        chosen = select(chats).where(chats.c.id > after)
        if user_id is not None:
            chosen = chosen.where(chats.c.user_id == user_id)
        if agent_id is not None:
            chosen = chosen.where(chats.c.agent_id == agent_id)
        async with self._database.read() as connection:
            found = await rows.many(connection, chosen.order_by(chats.c.id).limit(limit))
            return [Chat(**row) for row in found]

    async def delete(self, chat_id: int) -> bool:
        """Its messages and the rows of its documents go too."""
        async with self._database.write() as connection:
            statement = delete(chats).where(chats.c.id == chat_id)
            return await rows.affected(connection, statement) > 0

    async def rename(self, chat_id: int, title: str) -> Chat:
        """Raises NotFound."""
        async with self._database.write() as connection:
            return await _changed(connection, chat_id, title=title)

    async def add_tools(self, chat_id: int, names: Sequence[str]) -> Chat:
        """Raises NotFound."""
        async with self._database.write() as connection:
            held = select(chats.c.dynamic_tools).where(chats.c.id == chat_id).with_for_update()
            before: Sequence[str] = await connection.scalar(held) or ()
            return await _changed(
                connection, chat_id, dynamic_tools=list(dict.fromkeys([*before, *names]))
            )

    async def add_message(
        self,
        *,
        chat_id: int,
        role: MessageRole,
        content: str,
        tool_calls: Sequence[Mapping[str, Any]] = (),
    ) -> Message:
        """Raises NotFound."""
        statement = (
            insert(messages)
            .values(
                chat_id=chat_id,
                role=role,
                content=content,
                tool_calls=list(tool_calls),
                created_at=self._database.now(),
            )
            .returning(*messages.c)
        )
        async with self._database.write() as connection:
            await rows.require(connection, chats, "chat", [chat_id])
            with taken("The message is already there."):
                return Message(**await rows.one(connection, statement))

    async def messages(
        self, chat_id: int, *, after: int = 0, limit: int = 200
    ) -> Sequence[Message]:
        chosen = (
            select(messages)
            .where(messages.c.chat_id == chat_id, messages.c.id > after)
            .order_by(messages.c.id)
            .limit(limit)
        )
        async with self._database.read() as connection:
            return [Message(**row) for row in await rows.many(connection, chosen)]


async def _changed(connection: AsyncConnection, chat_id: int, **values: Any) -> Chat:
    statement = update(chats).where(chats.c.id == chat_id).values(**values).returning(*chats.c)
    row = await rows.maybe(connection, statement)
    if row is None:
        raise NotFound.of(f"chat {chat_id}")
    return Chat(**row)
