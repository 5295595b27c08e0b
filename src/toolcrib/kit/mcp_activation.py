"""This module activates one MCP tool: its schema is loaded, then it gets an instance."""

from __future__ import annotations

import asyncio
import time

from toolcrib.coordination.cache import Cache
from toolcrib.errors import SetupError, SourceProtocolError
from toolcrib.kit.mcp_connector import UNBOUND, McpConnector, server_of
from toolcrib.kit.mcp_discovery import Discovery
from toolcrib.kit.mcp_remote import MCPToolInstance
from toolcrib.kit.mcp_tool import MCPToolInfo, MCPToolStatus


async def activate(
    info: MCPToolInfo, connector: McpConnector | None, cache: Cache, account_id: str | None
) -> None:
    """Leaves the tool active, or failed with its last error. Raises what went wrong."""
    began = time.perf_counter()
    info.status = MCPToolStatus.LOADING
    try:
        if connector is None:
            raise SetupError(UNBOUND)
        if info.schema is None:
            known = await Discovery(connector, cache).schemas([info], account_id)
            if info.tool_name not in known:
                raise SourceProtocolError(f"The server has no tool {info.tool_name!r}.")
            info.schema = known[info.tool_name]
    except asyncio.CancelledError:
        info.status = MCPToolStatus.DISCOVERED
        raise
    except Exception as error:
        info.note_failure(words_of(error))
        raise
    server = server_of(info.mcp_config, account_id)
    info.instance = MCPToolInstance(connector, server, info.tool_name)
    info.status = MCPToolStatus.ACTIVE
    info.load_time_ms = (time.perf_counter() - began) * 1000


def words_of(error: BaseException) -> str:
    """An error in one line; a timeout has no words of its own."""
    if isinstance(error, TimeoutError) and not str(error):
        return "the server did not answer in time"
    return str(error) or type(error).__name__
