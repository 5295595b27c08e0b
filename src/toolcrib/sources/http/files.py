"""This module brings a call's documents: an argument is a document's id, never bytes."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

from toolcrib.documents.document import MAX_BYTES, BlobStore, DocumentStore
from toolcrib.errors import CallRefused, InvalidArguments, NotFound
from toolcrib.sources.http.multipart import FilePart
from toolcrib.sources.http.words import is_array
from toolcrib.tools.call import Call

MAX_TOTAL = 2 * MAX_BYTES
"""How many bytes of files one request may carry: it is put together in memory."""

MAX_FILES = 100
"""How many files one request may carry: each is looked up and read."""


class DocumentReader(Protocol):
    """Brings a document of the caller's chat, and no other."""

    async def fetch(self, document_id: int, call: Call) -> tuple[str, str, bytes]:
        """`(filename, media type, bytes)`.

        Raises ToolcribError for a document of another chat, and for one over the cap.
        """
        ...


@dataclass(frozen=True, kw_only=True, slots=True)
class ChatDocuments:
    """Documents of the chat that the call comes from, at most 50 MiB each."""

    documents: DocumentStore
    blobs: BlobStore

    async def fetch(self, document_id: int, call: Call) -> tuple[str, str, bytes]:
        chat = call.caller.chat
        document = await self.documents.find(document_id) if chat else None
        if chat is None or document is None or document.chat_id != chat.id:
            raise NotFound(f"The document {document_id} is not in this chat.")
        if document.size > MAX_BYTES:
            raise InvalidArguments(_too_large(document_id))
        return document.filename, document.mime_type, await self.blobs.read(document.key)


@dataclass(frozen=True, kw_only=True, slots=True)
class FileField:
    """A file field of a multipart body. `multiple`: the argument is a list of ids."""

    name: str
    description: str = ""
    required: bool = False
    multiple: bool = False

    def schema(self) -> dict[str, Any]:
        """What the model is told; optional fields may be null."""
        one: dict[str, Any] = {"type": "integer"}
        rule: dict[str, Any] = {"type": "array", "items": one} if self.multiple else one
        if self.multiple and self.required:
            rule["minItems"] = 1
        if not self.required:
            rule = {**rule, "type": [rule["type"], "null"]}
        return rule | {"description": self.description or "The document_id of a document."}


def missing_file(name: str) -> str:
    return f"API request failed: missing required file field {name!r}"


async def gather_files(
    fields: Sequence[FileField],
    arguments: Mapping[str, Any],
    reader: DocumentReader | None,
    call: Call,
) -> list[FilePart]:
    """Fetch every document that the arguments name, in order.

    Raises ToolcribError when one may not be sent: then none is.
    """
    if reader is None or call.caller.chat is None:
        raise CallRefused("files can only be sent from a chat.")
    wanted: list[tuple[str, int]] = []
    for field in fields:
        ids = _ids(arguments.get(field.name))
        if not ids and field.required:
            raise InvalidArguments(missing_file(field.name))
        wanted += [(field.name, document_id) for document_id in ids]
    if len(wanted) > MAX_FILES:
        raise InvalidArguments(f"API request failed: more than {MAX_FILES} documents in one call")
    return await _parts(wanted, reader, call)


async def _parts(
    wanted: Sequence[tuple[str, int]], reader: DocumentReader, call: Call
) -> list[FilePart]:
    parts: list[FilePart] = []
    size = 0
    for name, document_id in wanted:
        parts.append(await _part(name, document_id, reader, call))
        size += len(parts[-1].data)
        if size > MAX_TOTAL:
            raise InvalidArguments(
                f"API request failed: the documents are larger than {MAX_TOTAL} bytes in all"
            )
    return parts


async def _part(name: str, document_id: int, reader: DocumentReader, call: Call) -> FilePart:
    try:
        filename, mime_type, data = await reader.fetch(document_id, call)
    except (NotFound, InvalidArguments) as error:
        raise InvalidArguments(f"API request failed: {error.message}") from None
    if len(data) > MAX_BYTES:
        raise InvalidArguments(f"API request failed: {_too_large(document_id)}")
    return FilePart(field=name, filename=filename, mime_type=mime_type, data=data)


def _too_large(document_id: int) -> str:
    return f"The document {document_id} is larger than {MAX_BYTES} bytes."


def _ids(value: Any) -> list[int]:
    if value is None:
        return []
    return value if is_array(value) else [value]
