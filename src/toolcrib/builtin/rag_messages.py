"""This module searches what was said in a chat."""

from __future__ import annotations

import asyncio

from toolcrib.builtin.ranking import best
from toolcrib.builtin.tool import BuiltIn, answers, said
from toolcrib.kit.metadata import method_metadata, tool_metadata
from toolcrib.kit.result import ToolResult
from toolcrib.kit.schema import openapi_schema, param
from toolcrib.plugin.registration import annotations

SHOWN = 1000
"""How many characters of a message a hit shows; `expand_message` shows all."""


@tool_metadata(
    "Search in messages",
    "Find what was said in this chat",
    icon="messages-square",
    color="green",
    weight=65,
    visible=True,
    usage_guide="Search with words that were used then. Each hit has the message's id: "
    "`expand_message` shows it whole.",
    category="search",
)
class RagMessagesTool(BuiltIn):
    """The messages of the call's own chat."""

    @method_metadata("Search messages", "Finds messages of the chat")
    @annotations(read_only=True)
    @openapi_schema(name="rag_search_messages", description="Search the messages of this chat.")
    @param("query", "string", "What was said", required=True, minLength=1, maxLength=2000)
    @param("limit", "integer", "How many hits", default=5, minimum=1, maximum=50)
    @answers
    async def rag_search_messages(self, query: str, limit: int = 5) -> ToolResult:
        messages = [said(row) for row in await self.lent.chats.messages()]
        texts = [row["content"] for row in messages]
        places = await asyncio.to_thread(best, query, texts, most=limit)
        hits = [messages[place] for place in places]
        return self.success_response(
            {"hits": [{**row, "content": row["content"][:SHOWN]} for row in hits]}
        )
