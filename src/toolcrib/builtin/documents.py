"""This module lists, reads and writes the documents of a chat."""

from __future__ import annotations

from toolcrib.builtin.files import text_of
from toolcrib.builtin.pages import LONGEST
from toolcrib.builtin.tool import BuiltIn, answers
from toolcrib.errors import SetupError
from toolcrib.kit.metadata import method_metadata, tool_metadata
from toolcrib.kit.result import ToolResult
from toolcrib.kit.schema import openapi_schema, param
from toolcrib.plugin.registration import annotations

FORMATS = ["md", "txt", "html", "csv", "json"]
GUIDE = """
`list_documents` shows what the user put into this chat, and what you saved. `get_document_text`
reads one that is text, from `offset` on; images and archives cannot be read. `save_document` keeps
a text as a file that the user can download: use it for anything longer than a screen.
"""


@tool_metadata(
    "Documents",
    "List, read and write documents of the chat",
    icon="file-text",
    color="amber",
    weight=55,
    visible=True,
    usage_guide=GUIDE,
    category="utility",
)
class DocumentsTool(BuiltIn):
    """The documents of the call's own chat."""

    @method_metadata("List documents", "Lists the documents of the chat")
    @annotations(read_only=True)
    @openapi_schema(name="list_documents", description="List the documents of this chat.")
    @answers
    async def list_documents(self) -> ToolResult:
        return self.success_response({"documents": [dict(r) for r in await self.lent.files.list()]})

    @method_metadata("Read a document", "Reads a document as text")
    @annotations(read_only=True)
    @openapi_schema(name="get_document_text", description="Read a document of this chat as text.")
    @param("document_id", "integer", "Its id", required=True)
    @param("offset", "integer", "The character to begin at", default=0, minimum=0)
    @answers
    async def get_document_text(self, document_id: int, offset: int = 0) -> ToolResult:
        name, text = await text_of(self, document_id)
        end = offset + LONGEST
        return self.success_response(
            {
                "filename": name,
                "text": text[offset:end],
                "total_characters": len(text),
                "next_offset": end if end < len(text) else None,
            }
        )

    @method_metadata("Save a document", "Saves a text as a document")
    @openapi_schema(name="save_document", description="Save a text as a document of this chat.")
    @param("filename", "string", "Without ending", required=True, minLength=1, maxLength=200)
    @param("content", "string", "The text", required=True, maxLength=2_000_000)
    @param("format", "string", "What kind of text", enum=FORMATS, default="md")
    @answers
    async def save_document(self, filename: str, content: str, format: str = "md") -> ToolResult:  # noqa: A002 - the guide's name
        service = self.host.document_service
        if service is None:
            raise SetupError("This installation keeps no documents.")
        _, kind, data = service.process_content_by_format(content, format)
        stem = filename.removesuffix(f".{format}")
        return self.success_response(
            dict(await self.lent.files.save(f"{stem}.{format}", kind, data))
        )
