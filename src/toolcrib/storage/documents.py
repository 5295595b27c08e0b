"""This module keeps the rows of documents; their bytes are elsewhere."""

from __future__ import annotations

from collections.abc import Sequence

from sqlalchemy import delete, insert, or_, select

from toolcrib.documents.document import Document
from toolcrib.storage import rows
from toolcrib.storage.database import Database
from toolcrib.storage.failures import taken
from toolcrib.storage.tables import users
from toolcrib.storage.tables_chats import chats, documents


class SqlDocumentStore:
    """DocumentStore in SQL. Lists are by id, oldest first."""

    def __init__(self, database: Database) -> None:
        self._database = database

    async def create(
        self, *, chat_id: int, user_id: int, filename: str, mime_type: str, size: int, key: str
    ) -> Document:
        """Raises NotFound for a chat or user that is not there."""
        statement = (
            insert(documents)
            .values(
                chat_id=chat_id,
                user_id=user_id,
                filename=filename,
                mime_type=mime_type,
                size=size,
                key=key,
                created_at=self._database.now(),
            )
            .returning(*documents.c)
        )
        async with self._database.write() as connection:
            await rows.require(connection, chats, "chat", [chat_id])
            await rows.require(connection, users, "user", [user_id])
            with taken(f"The document {filename!r} is already there."):
                return Document(**await rows.one(connection, statement))

    async def find(self, document_id: int) -> Document | None:
        async with self._database.read() as connection:
            row = await rows.find(connection, documents, document_id)
        return Document(**row) if row else None

    async def list(self, chat_id: int, *, after: int = 0, limit: int = 200) -> Sequence[Document]:
        chosen = (
            select(documents)
            .where(documents.c.chat_id == chat_id, documents.c.id > after)
            .order_by(documents.c.id)
            .limit(limit)
        )
        async with self._database.read() as connection:
            return [Document(**row) for row in await rows.many(connection, chosen)]

    async def keys(
        self, *, chat_id: int | None = None, agent_id: int | None = None
    ) -> Sequence[str]:
        of_agent = select(chats.c.id).where(chats.c.agent_id == agent_id)
        chosen = select(documents.c.key).where(
            or_(documents.c.chat_id == chat_id, documents.c.chat_id.in_(of_agent))
        )
        async with self._database.read() as connection:
            return list((await connection.execute(chosen)).scalars())

    async def delete(self, document_id: int) -> bool:
        async with self._database.write() as connection:
            statement = delete(documents).where(documents.c.id == document_id)
            return await rows.affected(connection, statement) > 0
