"""This module declares how the kit reaches MCP servers: a port that `open_platform` binds."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Protocol, cast

from toolcrib.tools.result import Output
from toolcrib.tools.spec import ToolSpec

UNBOUND = (
    "No MCP server can be reached from here: open_platform() is missing. "
    "Open the platform in this process before calling tools of MCP servers."
)


@dataclass(frozen=True, kw_only=True, slots=True)
class McpServer:
    """A server as a kit configuration names it, and for whom it is reached."""

    transport: str
    """`http`, `sse`, `json` (a command over stdio) or `composio`."""
    config: Mapping[str, Any]
    """`url` and `headers`, `command`, `args` and `env`, or `profile_id`."""
    name: str = ""
    account_id: str | None = None


class McpConnector(Protocol):
    """Connects for each question, or pools: what is answered is the same."""

    async def list_tools(self, server: McpServer) -> Sequence[ToolSpec]:
        """Raises ToolcribError for a server that does not answer."""
        ...

    async def call_tool(self, server: McpServer, name: str, arguments: Mapping[str, Any]) -> Output:
        """A result with `isError` is a failed Output. Raises ToolcribError as above."""
        ...


def server_of(mcp_config: Mapping[str, Any], account_id: str | None = None) -> McpServer:
    """The server that an `mcp_config` names; an unknown transport counts as http."""
    said = str(mcp_config.get("customType") or mcp_config.get("type") or "http").lower()
    config = mcp_config.get("config")
    return McpServer(
        transport=said if said in {"http", "sse", "json", "composio"} else "http",
        config=cast("Mapping[str, Any]", config) if isinstance(config, Mapping) else {},
        name=str(mcp_config.get("name") or ""),
        account_id=account_id,
    )


def named_tools(mcp_config: Mapping[str, Any]) -> list[str]:
    """The tools that the configuration names under `enabledTools`."""
    return [str(name) for name in mcp_config.get("enabledTools") or ()]


def enabled(mcp_config: Mapping[str, Any], name: str) -> bool:
    """Whether a tool is among those named; none named means all."""
    chosen = named_tools(mcp_config)
    return not chosen or name in chosen
