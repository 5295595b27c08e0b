"""This module decides which tools an agent may activate."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any, cast

from toolcrib.kit.catalogue import metadata_of_tool
from toolcrib.kit.method_selection import get_enabled_methods_for_tool


class JITConfig:
    """An agent's configuration (`agentpress_tools`) and the tools that this run must not have."""

    def __init__(
        self,
        agent_config: Mapping[str, Any] | None = None,
        disabled_tools: Iterable[str] = (),
    ) -> None:
        self._disabled = frozenset(disabled_tools)
        config = agent_config or {}
        metadata = cast("Mapping[str, Any]", config.get("metadata") or {})
        default = config.get("is_default") or metadata.get("is_suna_default")
        chosen = None if default else config.get("agentpress_tools")
        self._chosen = cast("Mapping[str, Any]", chosen if isinstance(chosen, Mapping) else {})

    def is_tool_allowed(self, tool_name: str) -> bool:
        """What the run disables is not; a default agent, or one without a configuration, may use
        everything, and any agent what its configuration does not name. Core tools stay."""
        if tool_name in self._disabled:
            return False
        said = self._chosen.get(tool_name, True)
        allowed = (
            cast("Mapping[str, Any]", said).get("enabled", True)
            if isinstance(said, Mapping)
            else said
        )
        metadata = metadata_of_tool(tool_name)
        return bool(allowed) or (metadata is not None and metadata.is_core)

    def enabled_methods(self, tool_name: str) -> list[str] | None:
        """The methods to register; None means all."""
        return get_enabled_methods_for_tool(tool_name, self._chosen)


def blocked(tool_name: str) -> str:
    """The sentence for a tool that the configuration does not allow."""
    return f"Tool '{tool_name}' is not enabled for this agent"
