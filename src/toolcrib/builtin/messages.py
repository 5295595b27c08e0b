"""This module lets an agent speak to the user outside its answer: ask, end the task, wait."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence

from toolcrib.builtin.tool import BuiltIn, answers
from toolcrib.errors import InvalidArguments
from toolcrib.kit.metadata import method_metadata, tool_metadata
from toolcrib.kit.result import ToolResult
from toolcrib.kit.schema import openapi_schema, param
from toolcrib.plugin.registration import annotations
from toolcrib.tools.call import current_call

LONGEST_WAIT = 300
GUIDE = """
`ask` puts a question into the chat. End your turn then: the user answers with the next message.
Ask only what you cannot find out, one thing at a time; offer `choices` where there are few answers.

`complete` says that everything that was asked for is done. Name what was made in `text`, and give
the ids of documents of this chat in `attachments`. Do not call it while a task is still open.

`wait` pauses for a number of seconds, for something that needs time elsewhere.
"""


@tool_metadata(
    "Messages",
    "Ask the user, say that everything is done, wait",
    icon="message-circle",
    color="blue",
    is_core=True,
    weight=10,
    visible=True,
    usage_guide=GUIDE,
    category="core",
)
class MessageTool(BuiltIn):
    """Questions and endings become messages of the chat."""

    @method_metadata("Ask", "Asks the user a question", is_core=True)
    @openapi_schema(
        name="ask",
        description="Ask the user a question in the chat. Then end your turn: the answer is the "
        "next message.",
    )
    @param("text", "string", "The question", required=True, minLength=1, maxLength=20_000)
    @param("attachments", "array", "Ids of documents of this chat", items={"type": "integer"})
    @param("choices", "array", "Answers to choose from", items={"type": "string"}, maxItems=20)
    @answers
    async def ask(
        self, text: str, attachments: Sequence[int] = (), choices: Sequence[str] = ()
    ) -> ToolResult:
        listed = "".join(f"\n{place}. {choice}" for place, choice in enumerate(choices, 1))
        message = await self._say(text + listed, attachments)
        return self.success_response({"status": "awaiting_user", "message_id": message})

    @method_metadata("Complete", "Says that everything is done", is_core=True)
    @openapi_schema(
        name="complete",
        description="Say that everything the user asked for is done. Then end your turn.",
    )
    @param("text", "string", "What was done", maxLength=20_000, default="Done.")
    @param("attachments", "array", "Ids of documents of this chat", items={"type": "integer"})
    @answers
    async def complete(self, text: str = "Done.", attachments: Sequence[int] = ()) -> ToolResult:
        message = await self._say(text, attachments)
        return self.success_response({"status": "complete", "message_id": message})

    @method_metadata("Wait", "Waits for some seconds", is_core=True)
    @annotations(read_only=True)
    @openapi_schema(name="wait", description="Wait for some seconds before going on.")
    @param("seconds", "number", "How long", required=True, minimum=0, maximum=LONGEST_WAIT)
    @answers
    async def wait(self, seconds: float) -> ToolResult:
        call = current_call.get()
        if call is not None and seconds >= call.deadline:
            raise InvalidArguments(f"A call here may take {call.deadline:g} seconds: wait less.")
        await asyncio.sleep(seconds)
        return self.success_response(f"Waited {seconds:g} seconds.")

    async def _say(self, text: str, attachments: Sequence[int]) -> int:
        if not attachments:
            return await self.lent.chats.say(text)
        named = {row["id"]: row["filename"] for row in await self.lent.files.list()}
        for one in attachments:
            if one not in named:
                raise InvalidArguments(f"This chat has no document {one}.")
        listed = "".join(f"\n[document {one}: {named[one]}]" for one in dict.fromkeys(attachments))
        return await self.lent.chats.say(text + listed)
