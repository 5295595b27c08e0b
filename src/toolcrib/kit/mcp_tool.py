"""This module holds what is known of one MCP tool, and of the run that calls it."""

from __future__ import annotations

import copy
import time
from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import Enum
from typing import Any, cast


class MCPToolStatus(Enum):
    DISCOVERED = "discovered"
    LOADING = "loading"
    ACTIVE = "active"
    FAILED = "failed"
    DISABLED = "disabled"


@dataclass
class MCPToolInfo:
    """One tool of an MCP server. `mcp_config` says how the server is reached."""

    tool_name: str
    toolkit_slug: str
    mcp_config: dict[str, Any]
    status: MCPToolStatus = MCPToolStatus.DISCOVERED
    load_time_ms: float | None = None
    """How long the activation took, in milliseconds."""
    last_used_ms: float | None = None
    """When it was last called: milliseconds since 1970."""
    call_count: int = 0
    schema: dict[str, Any] | None = None
    description: str | None = None
    instance: Any = None
    last_error: str | None = None
    error_count: int = 0

    def note_use(self) -> None:
        self.call_count += 1
        self.last_used_ms = time.time() * 1000

    def note_failure(self, error: str) -> None:
        self.status = MCPToolStatus.FAILED
        self.last_error = error
        self.error_count += 1


def _no_stats() -> dict[str, float]:
    return {
        "tools_executed": 0,
        "total_execution_time_ms": 0,
        "cache_hits": 0,
        "activation_requests": 0,
    }


@dataclass
class MCPExecutionContext:
    """One run that calls tools. `user_context` may carry the `account_id`."""

    thread_manager: Any = None
    user_context: Mapping[str, Any] | None = None
    execution_stats: dict[str, float] = field(default_factory=_no_stats)

    @property
    def account_id(self) -> str | None:
        found = (self.user_context or {}).get("account_id")
        return None if found is None else str(found)


def function_schema(info: MCPToolInfo) -> dict[str, Any]:
    """The tool's schema in the form of a function, or a stub where none was loaded yet."""
    schema = info.schema
    if schema is None:
        words = f"External integration tool: {info.tool_name} ({info.toolkit_slug})"
        return as_function(info.tool_name, info.description or words, {})
    if isinstance(schema.get("function"), dict):
        return copy.deepcopy(schema)
    inner = schema.get("inputSchema") or schema.get("input_schema") or schema.get("parameters")
    parameters = cast("Mapping[str, Any]", inner if isinstance(inner, Mapping) else schema)
    said = schema.get("description") if inner else None
    return as_function(info.tool_name, str(said or info.description or ""), parameters)


def as_function(name: str, description: str, parameters: Mapping[str, Any]) -> dict[str, Any]:
    """`{type, function: {name, description, parameters}}`."""
    whole: dict[str, Any] = {"type": "object", "properties": {}, "required": [], **parameters}
    said: dict[str, Any] = {
        "name": name,
        "description": description or f"Execute {name}",
        "parameters": whole,
    }
    return {"type": "function", "function": said}
