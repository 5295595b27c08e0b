"""This module serves the documents of a chat: streamed in, and out as an attachment."""

from __future__ import annotations

from typing import Any
from urllib.parse import quote

from fastapi import Request, Response

from toolcrib.surfaces.http.asking import NO_CONTENT, Id, TheCaller, TheDesk, router
from toolcrib.surfaces.http.multipart import one_file
from toolcrib.surfaces.http.paging import Asked, page
from toolcrib.surfaces.http.shapes.chats import DocumentRow
from toolcrib.surfaces.http.shapes.fields import PageOf

routes = router("documents", "/api/v1/chats/{chat_id}/documents")
_FORM: dict[str, Any] = {
    "requestBody": {
        "required": True,
        "content": {
            "multipart/form-data": {
                "schema": {
                    "type": "object",
                    "required": ["file"],
                    "properties": {"file": {"type": "string", "format": "binary"}},
                }
            }
        },
    }
}


@routes.post("", status_code=201, openapi_extra=_FORM)
async def add(chat_id: Id, request: Request, caller: TheCaller, desk: TheDesk) -> DocumentRow:
    """Add one file, in the form field `file`, of at most 50 MiB."""
    async with one_file(request) as file:
        document = await desk.documents.add(
            caller,
            chat_id,
            filename=file.filename,
            mime_type=file.content_type,
            chunks=file.chunks,
        )
    return DocumentRow.of(document)


@routes.get("", response_model=PageOf[DocumentRow])
async def list_all(chat_id: Id, caller: TheCaller, desk: TheDesk, asked: Asked) -> Any:
    """The chat's documents, oldest first."""
    rows = await desk.documents.list(caller, chat_id, after=asked.after_id(), limit=asked.wanted)
    return page(rows, asked, DocumentRow.of, lambda row: row.id)


@routes.get("/{document_id}")
async def show(chat_id: Id, document_id: Id, caller: TheCaller, desk: TheDesk) -> DocumentRow:
    """What is known of one document."""
    return DocumentRow.of(await desk.documents.get(caller, chat_id, document_id))


@routes.get(
    "/{document_id}/content",
    response_class=Response,
    responses={200: {"content": {"application/octet-stream": {}}, "description": "The bytes."}},
)
async def content(chat_id: Id, document_id: Id, caller: TheCaller, desk: TheDesk) -> Response:
    """The document's bytes, exactly, always as an attachment."""
    document = await desk.documents.get(caller, chat_id, document_id)
    data = await desk.documents.read(caller, chat_id, document_id)
    name = quote(document.filename, safe="")
    return Response(
        data,
        headers={
            "Content-Type": document.mime_type,
            "Content-Disposition": f"attachment; filename*=UTF-8''{name}",
            "Content-Security-Policy": "sandbox; default-src 'none'",
        },
    )


@routes.delete("/{document_id}", **NO_CONTENT)
async def delete(chat_id: Id, document_id: Id, caller: TheCaller, desk: TheDesk) -> None:
    """Delete the document and its bytes."""
    await desk.documents.delete(caller, chat_id, document_id)
