"""This module lends a call the documents of its chat."""

from __future__ import annotations

from collections.abc import AsyncIterator, Sequence

from toolcrib.desk.documents import Documents
from toolcrib.desk.lending.asking import chat_of, running
from toolcrib.documents.document import Document
from toolcrib.plugin.lent import Row

_PAGE = 200


class LentFiles:
    """The Files of `plugin.lent`."""

    def __init__(self, documents: Documents) -> None:
        self._documents = documents

    async def list(self) -> Sequence[Row]:
        call = running()
        chat = chat_of(call)
        rows: list[Row] = []
        after = 0
        while page := await self._documents.list(call.caller, chat.id, after=after, limit=_PAGE):
            rows += map(_shown, page)
            after = page[-1].id
        return rows

    async def save(self, filename: str, mime_type: str, data: bytes) -> Row:
        call = running()
        made = await self._documents.add(
            call.caller,
            chat_of(call).id,
            filename=filename,
            mime_type=mime_type,
            chunks=_whole(data),
        )
        return _shown(made)


async def _whole(data: bytes) -> AsyncIterator[bytes]:
    yield data


def _shown(document: Document) -> Row:
    return {
        "id": document.id,
        "filename": document.filename,
        "mime_type": document.mime_type,
        "size": document.size,
    }
