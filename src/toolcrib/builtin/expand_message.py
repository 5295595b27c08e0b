"""This module lets an agent open what was folded: long messages, guides, tools of servers."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from toolcrib.builtin.loading import execute, external, initialize
from toolcrib.builtin.tool import BuiltIn, answers, said
from toolcrib.kit import meta
from toolcrib.kit.metadata import method_metadata, tool_metadata
from toolcrib.kit.result import ToolResult
from toolcrib.kit.schema import openapi_schema, param
from toolcrib.plugin.host import PluginContext
from toolcrib.plugin.registration import annotations
from toolcrib.tools.call import current_call

GUIDE = """
`initialize_tools` loads tool groups by name and answers with their guides: read a guide before you
use its tools for the first time. One unknown name fails the whole call and lists the known ones.

`discover_mcp_tools` lists what comes from outside (MCP servers, packages, APIs) with schemas. The
filter is a part of a name, or several whole names with commas between them. `execute_mcp_tool`
calls one of them; `args` must fit its schema.

`expand_message` shows a message of this chat in full, by its id.
"""

INITIALIZE: dict[str, Any] = {
    "type": "function",
    "function": {
        "name": "initialize_tools",
        "description": "Load tool groups by name; the answer holds the guides of those loaded.",
        "parameters": {
            "type": "object",
            "properties": {
                "tool_names": {
                    "description": "Names of groups: a list, or its JSON text",
                    "anyOf": [{"type": "array", "items": {"type": "string"}}, {"type": "string"}],
                }
            },
            "required": ["tool_names"],
        },
    },
}
EXECUTE: dict[str, Any] = {
    "type": "function",
    "function": {
        "name": "execute_mcp_tool",
        "description": "Call a tool that discover_mcp_tools lists.",
        "parameters": {
            "type": "object",
            "properties": {
                "tool_name": {"type": "string", "description": "Its name"},
                "args": {
                    "description": "Its arguments: an object, or its JSON text",
                    "anyOf": [{"type": "object"}, {"type": "string"}, {"type": "null"}],
                },
            },
            "required": ["tool_name"],
        },
    },
}


@tool_metadata(
    "Tool loader",
    "Load tools and their guides, find and call tools of servers, open long messages",
    icon="puzzle",
    color="violet",
    is_core=True,
    weight=30,
    visible=True,
    usage_guide=GUIDE,
    category="core",
)
class ExpandMessageTool(BuiltIn):
    """In a call it sees the calling agent's tools; `thread_manager` is a run of the kit's own, a
    ToolRegistry or an object with `tool_registry`, `mcp_loader` and `jit_config`."""

    def __init__(
        self,
        context: PluginContext | None = None,
        thread_id: str | None = None,
        thread_manager: Any = None,
    ) -> None:
        super().__init__(context)
        self.thread_id = thread_id
        self._thread = thread_manager

    @method_metadata("Expand message", "Shows a message in full", is_core=True)
    @annotations(read_only=True)
    @openapi_schema(name="expand_message", description="Show a message of this chat in full.")
    @param("message_id", "integer", "Its id", required=True)
    @answers
    async def expand_message(self, message_id: int) -> ToolResult:
        return self.success_response(said(await self.lent.chats.message(message_id)))

    @method_metadata("Discover tools", "Lists tools of servers", is_core=True)
    @annotations(read_only=True)
    @openapi_schema(
        name="discover_mcp_tools",
        description="List tools that come from MCP servers, packages and APIs, with their schemas.",
    )
    @param("filter", "string", "A part of a name, or whole names with commas between them")
    @answers
    async def discover_mcp_tools(self, filter: str | None = None) -> ToolResult:  # noqa: A002 - Kortix's word
        if self._in_kit:
            return await meta.discover_mcp_tools(filter, self._of_thread("mcp_loader"))
        return self.success_response(external(await self.lent.toolbox.list(), filter))

    @method_metadata("Execute tool", "Calls a tool of a server", is_core=True)
    @openapi_schema(EXECUTE)
    @answers
    async def execute_mcp_tool(
        self, tool_name: str, args: Mapping[str, Any] | str | None = None
    ) -> ToolResult:
        if self._in_kit:
            return await meta.execute_mcp_tool(tool_name, args, self._of_thread("mcp_loader"))
        return await execute(self.lent.toolbox, tool_name, args)

    @method_metadata("Initialize tools", "Loads tools and their guides", is_core=True)
    @openapi_schema(INITIALIZE)
    @answers
    async def initialize_tools(self, tool_names: list[str] | str) -> ToolResult:
        if self._in_kit:
            config = self._of_thread("jit_config")
            return await meta.initialize_tools(tool_names, self._thread, jit_config=config)
        return await initialize(self.lent, tool_names)

    @property
    def _in_kit(self) -> bool:
        return self._thread is not None and current_call.get() is None

    def _of_thread(self, name: str) -> Any:
        return getattr(self._thread, name, None)
