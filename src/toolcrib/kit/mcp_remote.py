"""This module holds the instance of an activated MCP tool: one method, named like the tool."""

from __future__ import annotations

from typing import Any

from toolcrib.kit.mcp_connector import McpConnector, McpServer
from toolcrib.kit.result import ToolResult


class MCPToolInstance:
    """`await instance.NAME(**arguments)` asks the server, over a connection of its own."""

    def __init__(self, connector: McpConnector, server: McpServer, tool_name: str) -> None:
        async def method(**arguments: Any) -> ToolResult:
            output = await connector.call_tool(server, tool_name, arguments)
            return ToolResult(success=output.success, output=output.text, raw=output.structured)

        setattr(self, tool_name, method)
