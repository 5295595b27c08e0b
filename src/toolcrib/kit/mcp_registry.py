"""This module holds MCPRegistry: MCP tools by name, activated just in time."""

from __future__ import annotations

import asyncio
import inspect
import threading
import time
from collections.abc import Mapping
from typing import Any

from toolcrib.coordination.cache import Cache, LocalCache
from toolcrib.kit.mcp_activation import activate, words_of
from toolcrib.kit.mcp_connector import McpConnector
from toolcrib.kit.mcp_discovery import Discovery
from toolcrib.kit.mcp_index import MCPIndex
from toolcrib.kit.mcp_tool import MCPExecutionContext, MCPToolInfo, MCPToolStatus, function_schema
from toolcrib.kit.result import ToolResult, failed, succeeded

SECONDS = 30.0
"""How long one call may take."""


class MCPRegistry(MCPIndex):
    """Without a `connector` it registers, lists and reads its cache, and calls nothing."""

    def __init__(
        self, *, connector: McpConnector | None = None, cache: Cache | None = None
    ) -> None:
        super().__init__()
        self.connector = connector
        self.cache: Cache = cache or LocalCache()

    def activate_tool(
        self, tool_name: str, instance: Any, schema: dict[str, Any] | None = None
    ) -> bool:
        """Make a tool callable by its instance; False for an unknown name."""
        info = self.get_tool_info(tool_name)
        if info is None:
            return False
        info.instance = instance
        info.schema = schema if schema is not None else info.schema
        info.status = MCPToolStatus.ACTIVE
        return True

    async def execute_tool(
        self,
        tool_name: str,
        args: Mapping[str, Any],
        context: MCPExecutionContext | None = None,
    ) -> ToolResult:
        """Call a tool, activating it first where it is not active. What fails is a result."""
        run = context or MCPExecutionContext()
        info = self.get_tool_info(tool_name)
        if info is None:
            return failed(f"MCP tool '{tool_name}' not found in registry")
        if info.status is MCPToolStatus.DISABLED:
            return failed(f"MCP tool '{tool_name}' is disabled")
        began = time.perf_counter()
        try:
            if info.status is MCPToolStatus.ACTIVE:
                run.execution_stats["cache_hits"] += 1
            else:
                run.execution_stats["activation_requests"] += 1
                await activate(info, self.connector, self.cache, run.account_id)
            async with asyncio.timeout(SECONDS):
                return await _called(info, args)
        except Exception as error:  # noqa: BLE001 - a foreign instance may raise anything
            if info.status is not MCPToolStatus.FAILED:
                info.note_failure(words_of(error))
            return failed(f"MCP tool execution error: {words_of(error)}")
        finally:
            run.execution_stats["tools_executed"] += 1
            run.execution_stats["total_execution_time_ms"] += (time.perf_counter() - began) * 1000

    def get_schemas(self) -> dict[str, dict[str, Any]]:
        """Function schemas by name, a stub where none was loaded; disabled tools are left out."""
        return {info.tool_name: function_schema(info) for info in self._offered()}

    async def prewarm_schemas(self, account_id: str | None = None) -> int:
        """Fill in schemas that the cache has for this account; asks no server. Returns how many."""
        return await self._discovery.prewarm(self.get_tools(), account_id)

    async def get_discovery_info(
        self,
        filter_pattern: str | None = None,
        load_schemas: bool = True,
        account_id: str | None = None,
    ) -> dict[str, Any]:
        """`{available_tools: {name: schema}, total_count, toolkits, filter_applied}`.

        A filter with a comma names tools exactly; another is looked for in their names. With
        `load_schemas` missing schemas are fetched, and a tool whose schema cannot be had is left
        out; without, it has a stub. Disabled tools are not there.
        """
        infos = _filtered(self._offered(), filter_pattern)
        if load_schemas:
            await self._discovery.load(infos, account_id)
            infos = [info for info in infos if info.schema is not None]
        found = {info.tool_name: function_schema(info) for info in infos}
        return {
            "available_tools": found,
            "total_count": len(found),
            "toolkits": self.get_available_toolkits(),
            "filter_applied": filter_pattern,
        }

    def _offered(self) -> list[MCPToolInfo]:
        return [info for info in self.get_tools() if info.status is not MCPToolStatus.DISABLED]

    @property
    def _discovery(self) -> Discovery:
        return Discovery(self.connector, self.cache)


async def _called(info: MCPToolInfo, args: Mapping[str, Any]) -> ToolResult:
    method = getattr(info.instance, info.tool_name)
    info.note_use()
    answer = method(**args)
    if inspect.isawaitable(answer):
        answer = await answer
    return answer if isinstance(answer, ToolResult) else succeeded(answer)


def _filtered(infos: list[MCPToolInfo], pattern: str | None) -> list[MCPToolInfo]:
    if not pattern:
        return infos
    if "," in pattern:
        names = {part.strip() for part in pattern.split(",")}
        return [info for info in infos if info.tool_name in names]
    return [info for info in infos if pattern.lower() in info.tool_name.lower()]


_lock = threading.Lock()
_registry: MCPRegistry | None = None


def get_mcp_registry() -> MCPRegistry:
    """The registry of this process."""
    global _registry  # noqa: PLW0603 - made when it is first asked for
    with _lock:
        if _registry is None:
            _registry = MCPRegistry()
        return _registry
