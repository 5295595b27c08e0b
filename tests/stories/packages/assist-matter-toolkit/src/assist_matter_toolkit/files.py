"""Tools for documents, offered only where the host has documents."""

from typing import Any, Protocol

from langchain_core.runnables import RunnableConfig
from langchain_core.tools import tool
from pydantic import BaseModel, Field


class Documents(Protocol):
    async def get_document_by_id(self, document_id: int) -> Any | None: ...
    async def fetch_document_bytes(self, document: Any) -> tuple[str, bytes]: ...
    def process_content_by_format(self, content: str, format: Any) -> tuple[str, str, bytes]: ...


_documents: Documents | None = None


def use_documents(documents: Documents) -> None:
    global _documents
    _documents = documents


class Filing(BaseModel):
    matter_id: int = Field(description="The matter to file it under")
    document_id: int = Field(description="A document of this chat")


@tool("file_document", args_schema=Filing)
async def file_document(matter_id: int, document_id: int, config: RunnableConfig) -> str:
    """File a document of this chat under a matter."""
    document = await _documents.get_document_by_id(document_id)
    if document is None:
        return f"there is no document {document_id} in this chat"
    name, data = await _documents.fetch_document_bytes(document)
    return f"filed {name} ({len(data)} bytes) under {matter_id}"


file_toolkit = [file_document]
