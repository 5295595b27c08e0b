"""This module searches the text of a chat's documents."""

from __future__ import annotations

import asyncio

from toolcrib.builtin.files import is_text, text_of
from toolcrib.builtin.ranking import best, passages
from toolcrib.builtin.tool import BuiltIn, answers
from toolcrib.errors import CallFailed
from toolcrib.kit.metadata import method_metadata, tool_metadata
from toolcrib.kit.result import ToolResult
from toolcrib.kit.schema import openapi_schema, param
from toolcrib.plugin.registration import annotations

MOST_CHARACTERS = 2_000_000
"""How much text is searched; what lies beyond is named as not searched."""


@tool_metadata(
    "Search in documents",
    "Find passages in the documents of this chat",
    icon="file-search",
    color="green",
    weight=70,
    visible=True,
    usage_guide="Search with words that the document would use. A hit names its document: read on "
    "with `get_document_text`. `not_searched` lists what is no text or came too late.",
    category="search",
)
class RagDocumentsTool(BuiltIn):
    """Passages by the words they share with the question; collections do not exist here."""

    @method_metadata("Search documents", "Finds passages in documents")
    @annotations(read_only=True)
    @openapi_schema(
        name="rag_search_documents_and_collections",
        description="Search the text of this chat's documents; answers the best passages.",
    )
    @param("query", "string", "What to look for", required=True, minLength=1, maxLength=2000)
    @param("limit", "integer", "How many passages", default=5, minimum=1, maximum=50)
    @answers
    async def rag_search_documents_and_collections(self, query: str, limit: int = 5) -> ToolResult:
        found: list[dict[str, object]] = []
        missed: list[str] = []
        left = MOST_CHARACTERS
        for row in await self.lent.files.list():
            text = await self._text(row["id"]) if is_text(row) and left > 0 else None
            if text is None:
                missed.append(str(row["filename"]))
                continue
            named: dict[str, object] = {"document_id": row["id"], "filename": row["filename"]}
            pieces = await asyncio.to_thread(passages, text[:left])
            found += [{**named, "passage": piece} for piece in pieces]
            left -= len(text)
        texts = [str(one["passage"]) for one in found]
        places = await asyncio.to_thread(best, query, texts, most=limit)
        return self.success_response(
            {"hits": [found[place] for place in places], "not_searched": missed}
        )

    async def _text(self, document_id: int) -> str | None:
        try:
            return (await text_of(self, document_id))[1]
        except CallFailed:
            return None
