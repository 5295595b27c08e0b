"""This module keeps the documents of a chat: bytes first, then the row, and both go together."""

from __future__ import annotations

import re
from collections.abc import AsyncIterator, Sequence

from toolcrib.desk.entering import Entrance
from toolcrib.desk.reach import require
from toolcrib.documents.document import BlobStore, Document, DocumentStore
from toolcrib.errors import NotFound
from toolcrib.grants.decide import Holding, personal
from toolcrib.identity.caller import Caller

MAX_FILENAME = 255
_MIME_TYPE = re.compile(r"[a-z0-9][a-z0-9!#$&^_.+-]{0,62}/[a-z0-9][a-z0-9!#$&^_.+-]{0,62}")
_UNKNOWN_TYPE = "application/octet-stream"


class Documents:
    """Documents belong to a chat, and a chat to its user."""

    def __init__(self, *, documents: DocumentStore, blobs: BlobStore, entrance: Entrance) -> None:
        self._documents = documents
        self._blobs = blobs
        self._entrance = entrance

    async def add(
        self,
        caller: Caller,
        chat_id: int,
        *,
        filename: str,
        mime_type: str,
        chunks: AsyncIterator[bytes],
    ) -> Document:
        """Raises InvalidRequest for a document that is too large; nothing is kept of it."""
        await self._holding(caller, chat_id)
        key, size = await self._blobs.write(chunks)
        try:
            return await self._documents.create(
                chat_id=chat_id,
                user_id=caller.user_id,
                filename=shown_name(filename),
                mime_type=shown_type(mime_type),
                size=size,
                key=key,
            )
        except BaseException:
            await self._blobs.delete(key)
            raise

    async def list(
        self, caller: Caller, chat_id: int, *, after: int = 0, limit: int = 50
    ) -> Sequence[Document]:
        await self._holding(caller, chat_id)
        return await self._documents.list(chat_id, after=after, limit=limit)

    async def get(self, caller: Caller, chat_id: int, document_id: int) -> Document:
        """Raises NotFound for a document of another chat too."""
        await self._holding(caller, chat_id)
        document = await self._documents.find(document_id)
        if document is None or document.chat_id != chat_id:
            raise NotFound(
                f"Chat {chat_id} has no document {document_id}.",
                hint=f"GET /api/v1/chats/{chat_id}/documents lists those it has.",
            )
        return document

    async def read(self, caller: Caller, chat_id: int, document_id: int) -> bytes:
        document = await self.get(caller, chat_id, document_id)
        return await self._blobs.read(document.key)

    async def delete(self, caller: Caller, chat_id: int, document_id: int) -> None:
        thing = await self._holding(caller, chat_id)
        document = await self.get(caller, chat_id, document_id)
        require(caller, "change", thing, what=f"document {document_id}")
        await self._documents.delete(document_id)
        await self._blobs.delete(document.key)

    async def _holding(self, caller: Caller, chat_id: int) -> Holding:
        chat = await self._entrance.chat(caller, chat_id)
        return personal(chat.user_id, agent_id=chat.agent_id)


def shown_name(filename: str) -> str:
    """The last part of a path, without characters that no screen should show; never empty."""
    last = re.split(r"[/\\]", filename)[-1]
    kept = "".join(c for c in last if c.isprintable()).strip()
    if kept in {"", ".", ".."}:
        return "document"
    if len(kept) <= MAX_FILENAME:
        return kept
    stem, dot, ending = kept.rpartition(".")
    tail = dot + ending if dot and stem and len(ending) <= 16 else ""
    return kept[: MAX_FILENAME - len(tail)] + tail


def shown_type(mime_type: str) -> str:
    """The media type without parameters, or the one for unknown bytes."""
    plain = mime_type.partition(";")[0].strip().lower()
    return plain if _MIME_TYPE.fullmatch(plain) else _UNKNOWN_TYPE
