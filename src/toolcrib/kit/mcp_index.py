"""This module indexes MCP tools by name, toolkit and status."""

from __future__ import annotations

from typing import Any

from toolcrib.kit.mcp_tool import MCPToolInfo, MCPToolStatus


class MCPIndex:
    """What is registered. Registering a name again replaces it everywhere."""

    def __init__(self) -> None:
        self._tools: dict[str, MCPToolInfo] = {}
        self._by_toolkit: dict[str, dict[str, None]] = {}
        self._version = 0

    @property
    def version(self) -> int:
        """Rises whenever the set of names changes."""
        return self._version

    def register_tool_info(self, info: MCPToolInfo) -> None:
        known = self._tools.pop(info.tool_name, None)
        if known is not None:
            self._leave(known)
        self._tools[info.tool_name] = info
        self._by_toolkit.setdefault(info.toolkit_slug, {})[info.tool_name] = None
        self._version += 1

    def clear(self) -> None:
        self._tools.clear()
        self._by_toolkit.clear()
        self._version += 1

    def get_tool_info(self, tool_name: str) -> MCPToolInfo | None:
        return self._tools.get(tool_name)

    def get_tools(self) -> list[MCPToolInfo]:
        return list(self._tools.values())

    def is_tool_available(self, tool_name: str) -> bool:
        return tool_name in self._tools

    def is_tool_active(self, tool_name: str) -> bool:
        info = self._tools.get(tool_name)
        return info is not None and info.status is MCPToolStatus.ACTIVE

    def get_tools_by_status(self, status: MCPToolStatus) -> list[str]:
        """The names, in order of registration; an info's own status counts, whoever set it."""
        return [name for name, info in self._tools.items() if info.status is status]

    def get_tools_by_toolkit(self, toolkit_slug: str) -> list[str]:
        return list(self._by_toolkit.get(toolkit_slug, ()))

    def get_available_toolkits(self) -> list[str]:
        return list(self._by_toolkit)

    def get_registry_stats(self) -> dict[str, Any]:
        """`{total_tools, active_tools, failed_tools, toolkits, status_breakdown}`."""
        counts = {status: len(self.get_tools_by_status(status)) for status in MCPToolStatus}
        return {
            "total_tools": len(self._tools),
            "active_tools": counts[MCPToolStatus.ACTIVE],
            "failed_tools": counts[MCPToolStatus.FAILED],
            "toolkits": len(self._by_toolkit),
            "status_breakdown": {status.value: count for status, count in counts.items()},
        }

    def _leave(self, info: MCPToolInfo) -> None:
        members = self._by_toolkit.get(info.toolkit_slug, {})
        members.pop(info.tool_name, None)
        if not members:
            self._by_toolkit.pop(info.toolkit_slug, None)
