"""This module remembers things about the user from chat to chat."""

from __future__ import annotations

from toolcrib.builtin.ranking import best
from toolcrib.builtin.tool import BuiltIn, answers, said
from toolcrib.kit.metadata import method_metadata, tool_metadata
from toolcrib.kit.result import ToolResult
from toolcrib.kit.schema import openapi_schema, param
from toolcrib.plugin.registration import annotations

GUIDE = """
Remember what will still matter in another chat: how the user likes things, names, standing
decisions. One fact for each `remember`, in a sentence that stands alone. Never a password or key.

`recall` with a query shows the most fitting memories, without one all of them. `forget` what turned
out wrong, by its id, before you remember the right thing.
"""


@tool_metadata(
    "Memory",
    "Remember things about the user",
    icon="brain",
    color="violet",
    weight=45,
    visible=True,
    usage_guide=GUIDE,
    category="core",
)
class MemoryTool(BuiltIn):
    """The user's own memories, whichever agent made them."""

    @method_metadata("Remember", "Keeps a fact about the user")
    @openapi_schema(name="remember", description="Remember a fact about the user for later chats.")
    @param("fact", "string", "One sentence", required=True, minLength=1, maxLength=2000)
    @answers
    async def remember(self, fact: str) -> ToolResult:
        return self.success_response(said(await self.lent.memories.add(fact)))

    @method_metadata("Recall", "Shows what is remembered")
    @annotations(read_only=True)
    @openapi_schema(name="recall", description="Show what is remembered about the user.")
    @param("query", "string", "What about; without it, everything", maxLength=2000)
    @answers
    async def recall(self, query: str = "") -> ToolResult:
        known = [said(row) for row in await self.lent.memories.list()]
        if query.strip():
            places = best(query, [row["content"] for row in known], most=20)
            known = [known[place] for place in places]
        return self.success_response({"memories": known})

    @method_metadata("Forget", "Forgets a memory")
    @openapi_schema(name="forget", description="Forget a memory for good.")
    @param("memory_id", "integer", "Its id", required=True)
    @answers
    async def forget(self, memory_id: int) -> ToolResult:
        if not await self.lent.memories.delete(memory_id):
            return self.fail_response(f"There is no memory {memory_id}.")
        return self.success_response(f"Memory {memory_id} is forgotten.")
