"""This module lets plugins read documents, never beyond the chat that the running call is from."""

from __future__ import annotations

from collections.abc import Mapping
from enum import Enum
from typing import Any

from toolcrib.documents.document import BlobStore, Document, DocumentStore
from toolcrib.errors import NotGranted
from toolcrib.plugin.home import Home
from toolcrib.tools.call import current_call

_FORMATS: Mapping[str, str] = {
    "md": "text/markdown",
    "txt": "text/plain",
    "html": "text/html",
    "csv": "text/csv",
    "json": "application/json",
}
_OTHER_WORDS: Mapping[str, str] = {"markdown": "md", "text": "txt", "htm": "html"}


class DocumentService:
    """`document_service` of a plugin's context.

    Outside a call, outside a chat, and for another chat's documents there is nothing to see.
    """

    def __init__(self, documents: DocumentStore, blobs: BlobStore, home: Home) -> None:
        self._documents = documents
        self._blobs = blobs
        self._home = home

    async def get_document_by_id(self, document_id: int) -> Document | None:
        """The document, if the call's chat has it; None otherwise, whatever the reason."""
        chat_id = _chat_id()
        if chat_id is None:
            return None
        document = await self._home.run(lambda: self._documents.find(document_id))
        return document if document is not None and document.chat_id == chat_id else None

    async def fetch_document_bytes(self, document: Any) -> tuple[str, bytes]:
        """`(filename, bytes)` of a document that `get_document_by_id` gave, or of its id.

        Raises NotGranted when the running call's chat does not have the document, NotFound when
        its bytes are gone.
        """
        if _chat_id() is None:
            raise NotGranted(
                "Documents can be read only while a tool is called from a chat.",
                hint="Call the tool with chat_id.",
            )
        wanted = document if isinstance(document, int) else getattr(document, "id", None)
        own = await self.get_document_by_id(wanted) if isinstance(wanted, int) else None
        if own is None:
            raise NotGranted(f"The chat of this call has no document {wanted!r}.")
        return own.filename, await self._home.run(lambda: self._blobs.read(own.key))

    def process_content_by_format(self, content: str, format: Any) -> tuple[str, str, bytes]:  # noqa: A002 - the guide's name
        """`(filename, mime_type, bytes)` of a text; `format` is text or an enum, any case.

        Raises ValueError for a format that cannot be made; it lists those that can.
        """
        word = _word(format)
        kind = _OTHER_WORDS.get(word, word)
        if kind not in _FORMATS:
            known = ", ".join(_FORMATS)
            raise ValueError(f"The format {word!r} cannot be made; these can: {known}.")
        return f"document.{kind}", _FORMATS[kind], content.encode("utf-8", "replace")


def _chat_id() -> int | None:
    call = current_call.get()
    return call.caller.chat.id if call is not None and call.caller.chat is not None else None


def _word(format: object) -> str:  # noqa: A002 - the guide's name
    value = format.value if isinstance(format, Enum) else format
    if not isinstance(value, str):
        value = format.name if isinstance(format, Enum) else str(value)
    return value.strip().lower().removeprefix(".")
