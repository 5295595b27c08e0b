"""An MCP server of the SDK with two tools, both eras: what the gateway stands in front of."""

from __future__ import annotations

from typing import Any

import mcp_types as types
from mcp.server.lowlevel import Server

SCHEMA: dict[str, Any] = {
    "type": "object",
    "properties": {"city": {"type": "string"}, "n": {"type": "integer"}},
}
TOOLS = [
    types.Tool(
        name="look",
        description="Echo, and say that nothing is changed.",
        input_schema=SCHEMA,
        annotations=types.ToolAnnotations(read_only_hint=True),
    ),
    types.Tool(name="echo", description="Echo, and say nothing of the kind.", input_schema=SCHEMA),
]


async def list_tools(ctx: Any, params: Any) -> types.ListToolsResult:
    return types.ListToolsResult(tools=TOOLS)


async def call_tool(ctx: Any, params: types.CallToolRequestParams) -> types.CallToolResult:
    text = types.TextContent(type="text", text=f"{params.arguments}")
    return types.CallToolResult(content=[text])


server = Server(
    "echo",
    version="1",
    on_list_tools=list_tools,
    on_call_tool=call_tool,
    get_tool_input_schema=lambda name: SCHEMA,
)
app = server.streamable_http_app(json_response=True)
