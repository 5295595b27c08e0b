"""This module reads documents of a chat as text, as far as they are text."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from typing import Any

from toolcrib.builtin.markup import plain
from toolcrib.builtin.tool import BuiltIn
from toolcrib.errors import CallFailed, SetupError

_TEXTUAL = ("json", "xml", "yaml", "javascript", "csv", "markdown")


def is_text(row: Mapping[str, Any]) -> bool:
    """Whether a document's type is one of text."""
    kind = str(row["mime_type"])
    return kind.startswith("text/") or kind.endswith(_TEXTUAL)


async def text_of(tool: BuiltIn, document_id: int) -> tuple[str, str]:
    """`(filename, text)`; pages lose their markup.

    Raises NotGranted for what the chat does not have, CallFailed for a document that is no text.
    """
    service = tool.host.document_service
    if service is None:
        raise SetupError("This installation keeps no documents.")
    name, data = await service.fetch_document_bytes(document_id)
    try:
        text = data.decode()
    except UnicodeDecodeError:
        raise CallFailed(f"Document {document_id}, {name!r}, is no text.") from None
    if "\0" in text:
        raise CallFailed(f"Document {document_id}, {name!r}, is no text.")
    if name.lower().endswith((".html", ".htm")):
        return name, (await asyncio.to_thread(plain, text))[1]
    return name, text
