"""This module lets a chat have chats below it: work on a part of a job, apart from the rest."""

from __future__ import annotations

from toolcrib.builtin.tool import BuiltIn, answers
from toolcrib.kit.metadata import method_metadata, tool_metadata
from toolcrib.kit.result import ToolResult
from toolcrib.kit.schema import openapi_schema, param
from toolcrib.plugin.registration import annotations


@tool_metadata(
    "Subchats, from above",
    "Open chats below this one and send messages to them",
    icon="git-branch",
    color="violet",
    weight=75,
    visible=True,
    usage_guide="Open a subchat for a part of the job that needs its own context, send it all that "
    "it must know in one message, and use its reply. A subchat does not see this chat.",
    category="core",
)
class SubchatsParentTool(BuiltIn):
    """What a chat does with those below it."""

    @method_metadata("Open a subchat", "Opens a chat below this one")
    @openapi_schema(
        name="create_subchat", description="Open a chat below this one, with this agent."
    )
    @param("title", "string", "What it is for", required=True, minLength=1, maxLength=200)
    @answers
    async def create_subchat(self, title: str) -> ToolResult:
        return self.success_response(dict(await self.lent.chats.open_subchat(title)))

    @method_metadata("List subchats", "Lists the chats below this one")
    @annotations(read_only=True)
    @openapi_schema(name="list_subchats", description="List the chats below this one.")
    @answers
    async def list_subchats(self) -> ToolResult:
        return self.success_response(
            {"subchats": [dict(r) for r in await self.lent.chats.subchats()]}
        )

    @method_metadata("Send to a subchat", "Sends a message to a chat below")
    @openapi_schema(
        name="send_to_subchat", description="Send a message to a chat below; answers the reply."
    )
    @param("chat_id", "integer", "Its id", required=True)
    @param("message", "string", "What to say", required=True, minLength=1, maxLength=100_000)
    @answers
    async def send_to_subchat(self, chat_id: int, message: str) -> ToolResult:
        return self.success_response(await self.lent.chats.send_to_subchat(chat_id, message))


@tool_metadata(
    "Subchats, from below",
    "Report to the chat above",
    icon="corner-left-up",
    color="violet",
    weight=75,
    visible=True,
    usage_guide="Report when your part is done, or when you cannot go on: the result first, then "
    "what is open. The chat above does not see the rest of this one.",
    category="core",
)
class SubchatsChildTool(BuiltIn):
    """What a chat says to the one above it."""

    @method_metadata("Report", "Sends a message to the chat above")
    @openapi_schema(name="report_to_parent", description="Put a message into the chat above.")
    @param("message", "string", "What to say", required=True, minLength=1, maxLength=100_000)
    @answers
    async def report_to_parent(self, message: str) -> ToolResult:
        number = await self.lent.chats.tell_parent(message)
        return self.success_response({"status": "reported", "message_id": number})
