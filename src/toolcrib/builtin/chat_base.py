"""This module holds small tools that nearly every chat wants: a title, a page, other agents."""

from __future__ import annotations

from toolcrib.builtin.pages import read_page
from toolcrib.builtin.tool import BuiltIn, answers
from toolcrib.kit.metadata import method_metadata, tool_metadata
from toolcrib.kit.result import ToolResult
from toolcrib.kit.schema import openapi_schema, param
from toolcrib.plugin.registration import annotations

GUIDE = """
Give a chat its title once you know what it is about, in a few words. `read_content_of_url` shows
one page as text; `available_mentions` the agents that the user may turn to.
"""


@tool_metadata(
    "Base",
    "Name the chat, read a page, see other agents",
    icon="box",
    color="blue",
    weight=35,
    visible=True,
    usage_guide=GUIDE,
    category="core",
)
class ChatBaseTool(BuiltIn):
    """What needs no setting."""

    @method_metadata("Name the chat", "Gives the chat a title")
    @openapi_schema(name="set_chat_title_name", description="Give this chat a title.")
    @param("title", "string", "In a few words", required=True, minLength=1, maxLength=200)
    @answers
    async def set_chat_title_name(self, title: str) -> ToolResult:
        await self.lent.chats.rename(" ".join(title.split()))
        return self.success_response(f"The chat is called {title!r} now.")

    @method_metadata("Read a page", "Reads the text of a page")
    @annotations(read_only=True, open_world=True)
    @openapi_schema(name="read_content_of_url", description="Read a web page as plain text.")
    @param("url", "string", "Its address, with https://", required=True, minLength=1)
    @answers
    async def read_content_of_url(self, url: str) -> ToolResult:
        page = await read_page(self.lent.web, url.strip())
        return self.success_response(dict(page.as_json()))

    @method_metadata("Other agents", "Lists agents that the user may turn to")
    @annotations(read_only=True)
    @openapi_schema(name="available_mentions", description="List agents that the user may turn to.")
    @answers
    async def available_mentions(self) -> ToolResult:
        return self.success_response({"agents": [dict(a) for a in await self.lent.agents.list()]})
