"""An MCP server of the SDK with one tool, both eras: what the gateway stands in front of."""

from __future__ import annotations

from typing import Any

import mcp_types as types
from mcp.server.lowlevel import Server

TOOL = types.Tool(
    name="echo",
    description="Echo.",
    input_schema={
        "type": "object",
        "properties": {"city": {"type": "string"}, "n": {"type": "integer"}},
    },
)


async def list_tools(ctx: Any, params: Any) -> types.ListToolsResult:
    return types.ListToolsResult(tools=[TOOL])


async def call_tool(ctx: Any, params: types.CallToolRequestParams) -> types.CallToolResult:
    text = types.TextContent(type="text", text=f"{params.arguments}")
    return types.CallToolResult(content=[text])


server = Server(
    "echo",
    version="1",
    on_list_tools=list_tools,
    on_call_tool=call_tool,
    get_tool_input_schema=lambda name: TOOL.input_schema,
)
app = server.streamable_http_app(json_response=True)
