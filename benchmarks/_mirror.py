"""An MCP server of the SDK that says who asks and what: its answers cannot be mistaken.

`who` comes from the header `X-Who`, which Toolcrib fills from each user's own setting.
"""

from __future__ import annotations

import os
from typing import Any

import anyio
import mcp_types as types
from mcp.server.lowlevel import Server

NAME = os.environ.get("MIRROR_NAME", "mirror")
TOOL = types.Tool(
    name=f"who_{NAME}",
    description="Say who asks, and the number.",
    input_schema={"type": "object", "properties": {"n": {"type": "integer"}}, "required": ["n"]},
    annotations=types.ToolAnnotations(read_only_hint=True),
)


async def list_tools(ctx: Any, params: Any) -> types.ListToolsResult:
    return types.ListToolsResult(tools=[TOOL])


async def call_tool(ctx: Any, params: types.CallToolRequestParams) -> types.CallToolResult:
    number = (params.arguments or {})["n"]
    await anyio.sleep(number % 5 / 1000)
    who = ctx.request.headers.get("x-who", "nobody")
    text = types.TextContent(type="text", text=f"{who}:{NAME}:{number}")
    return types.CallToolResult(content=[text])


server = Server(
    NAME,
    version="1",
    on_list_tools=list_tools,
    on_call_tool=call_tool,
    get_tool_input_schema=lambda name: TOOL.input_schema,
)
app = server.streamable_http_app(json_response=True)
