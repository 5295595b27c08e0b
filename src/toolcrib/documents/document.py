"""This module holds a document's row and the ports for rows and bytes."""

from __future__ import annotations

from collections.abc import AsyncIterator, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Protocol

from toolcrib.errors import InvalidRequest

MAX_BYTES = 50 * 1024 * 1024
"""The cap on one document (PrimeThink's 50 MiB)."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Document:
    """A file in a chat. `key` names its bytes in the blob store."""

    id: int
    chat_id: int
    user_id: int
    filename: str
    mime_type: str
    size: int
    key: str
    created_at: datetime


class DocumentStore(Protocol):
    """Rows of documents."""

    async def create(
        self, *, chat_id: int, user_id: int, filename: str, mime_type: str, size: int, key: str
    ) -> Document: ...

    async def find(self, document_id: int) -> Document | None: ...

    async def list(
        self, chat_id: int, *, after: int = 0, limit: int = 200
    ) -> Sequence[Document]: ...

    async def keys(
        self, *, chat_id: int | None = None, agent_id: int | None = None
    ) -> Sequence[str]:
        """The keys of all documents of the chat, or of all chats with the agent."""
        ...

    async def delete(self, document_id: int) -> bool: ...


class BlobStore(Protocol):
    """Bytes by key."""

    async def write(
        self, chunks: AsyncIterator[bytes], *, limit: int = MAX_BYTES
    ) -> tuple[str, int]:
        """Store a stream; returns (key, size). Over the limit: InvalidRequest, nothing kept."""
        ...

    async def read(self, key: str, *, limit: int = MAX_BYTES) -> bytes:
        """Raises NotFound; InvalidRequest for more than `limit` bytes."""
        ...

    async def delete(self, key: str) -> None:
        """Deleting what is gone already is no error."""
        ...

    async def ping(self) -> None:
        """Raises SetupError when the place cannot be used."""
        ...

    async def close(self) -> None:
        """Let go of connections."""
        ...


def too_large(limit: int) -> InvalidRequest:
    """The refusal of a document over the limit, in bytes."""
    return InvalidRequest(
        f"The document is larger than {limit} bytes.", where="file", hint="Send a smaller file."
    )
