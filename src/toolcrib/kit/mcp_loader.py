"""This module maps the MCP servers of one agent's configuration to tools, and activates those."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Iterable, Mapping
from typing import Any, cast

from toolcrib.kit.activation import (
    ActivationError,
    ActivationErrorType,
    ActivationResult,
    ActivationSuccess,
    BatchActivationResult,
)
from toolcrib.kit.mcp_activation import activate, words_of
from toolcrib.kit.mcp_map import MCPMap
from toolcrib.kit.mcp_registry import MCPRegistry, get_mcp_registry
from toolcrib.kit.mcp_tool import MCPToolInfo, MCPToolStatus


class MCPJITLoader:
    """`agent_config` holds `custom_mcp` and `configured_mcps` (lists of mcp_config) and
    `account_id`. Connector and cache are those of `registry`, this process's own without one."""

    def __init__(
        self, agent_config: Mapping[str, Any], *, registry: MCPRegistry | None = None
    ) -> None:
        self._custom = _configs(agent_config, "custom_mcp", "custom_mcps")
        self._configured = _configs(agent_config, "configured_mcps", "configured_mcp")
        account = agent_config.get("account_id")
        self.account_id = None if account is None else str(account)
        self._registry = registry
        self._map: dict[str, MCPToolInfo] | None = None

    async def build_tool_map(
        self,
        cache_only: bool = False,
        force_rebuild: bool = False,
    ) -> dict[str, MCPToolInfo]:
        """Ask all servers at once; one that fails hides no other.

        With `cache_only` none is asked: the map holds the tools that the configuration names.
        """
        if self._map is not None and not force_rebuild:
            return self._map
        asking = not cache_only
        registry = self.registry
        building = MCPMap(registry.connector, registry.cache, self.account_id)
        self._map = await building.build(self._custom, self._configured, asking=asking)
        return self._map

    async def rebuild_tool_map(self, fresh: bool = True) -> dict[str, MCPToolInfo]:
        """Build it again; without `fresh` from the configuration alone."""
        return await self.build_tool_map(cache_only=not fresh, force_rebuild=True)

    async def get_available_tools(self) -> list[str]:
        return list(await self.build_tool_map())

    async def get_toolkit_tools(self, toolkit_slug: str) -> list[str]:
        known = await self.build_tool_map()
        return [name for name, info in known.items() if info.toolkit_slug == toolkit_slug]

    async def get_toolkits(self) -> list[str]:
        return list(dict.fromkeys(i.toolkit_slug for i in (await self.build_tool_map()).values()))

    async def is_tool_available(self, tool_name: str) -> bool:
        return tool_name in await self.build_tool_map()

    def is_tool_available_sync(self, tool_name: str) -> bool:
        """As far as the map was built by now."""
        return tool_name in (self._map or {})

    def get_tool_info(self, tool_name: str) -> MCPToolInfo | None:
        return (self._map or {}).get(tool_name)

    def tools(self) -> list[MCPToolInfo]:
        """The map as it is now."""
        return list((self._map or {}).values())

    async def activate_tool(self, tool_name: str) -> ActivationResult:
        """Load its schema and give it an instance; a tool that is active stays as it is."""
        began = time.perf_counter()
        info = (await self.build_tool_map()).get(tool_name)
        if info is None:
            kind, text = ActivationErrorType.TOOL_NOT_FOUND, f"MCP tool '{tool_name}' not found"
            return ActivationError(kind, text, tool_name)
        if info.status is not MCPToolStatus.ACTIVE:
            registry = self.registry
            try:
                await activate(info, registry.connector, registry.cache, self.account_id)
            except Exception as error:  # noqa: BLE001 - whatever the server did
                kind = ActivationErrorType.INIT_FAILED
                return ActivationError(kind, words_of(error), tool_name)
        taken = (time.perf_counter() - began) * 1000
        return ActivationSuccess(tool_name, taken, function_count=1)

    async def activate_multiple(self, tool_names: Iterable[str]) -> BatchActivationResult:
        began = time.perf_counter()
        results = await asyncio.gather(*(self.activate_tool(name) for name in tool_names))
        return BatchActivationResult(
            successful=[one for one in results if isinstance(one, ActivationSuccess)],
            failed=[one for one in results if isinstance(one, ActivationError)],
            total_time_ms=(time.perf_counter() - began) * 1000,
        )

    def get_activation_stats(self) -> dict[str, Any]:
        """`{total_tools, loaded_tools, load_percentage, toolkit_breakdown, schema_cache_size}`."""
        tools = self.tools()
        loaded = sum(info.status is MCPToolStatus.ACTIVE for info in tools)
        kits = [info.toolkit_slug for info in tools]
        return {
            "total_tools": len(tools),
            "loaded_tools": loaded,
            "load_percentage": 100.0 * loaded / len(tools) if tools else 0.0,
            "toolkit_breakdown": {slug: kits.count(slug) for slug in dict.fromkeys(kits)},
            "schema_cache_size": sum(info.schema is not None for info in tools),
        }

    async def cleanup(self) -> None:
        """Forget the map; connections are made per call, so there is nothing to close."""
        self._map = None

    @property
    def registry(self) -> MCPRegistry:
        return self._registry if self._registry is not None else get_mcp_registry()


def init_mcp_registry_from_loader(
    loader: MCPJITLoader, registry: MCPRegistry | None = None
) -> MCPRegistry:
    """Empty a registry (this process's own) and fill it from the loader's map, all discovered."""
    target = registry if registry is not None else loader.registry
    target.clear()
    for info in loader.tools():
        target.register_tool_info(
            MCPToolInfo(
                tool_name=info.tool_name,
                toolkit_slug=info.toolkit_slug,
                mcp_config=info.mcp_config,
                schema=info.schema,
                description=info.description,
            )
        )
    return target


def _configs(agent_config: Mapping[str, Any], *keys: str) -> list[Mapping[str, Any]]:
    found: list[object] = []
    for key in keys:
        found = found or list(agent_config.get(key) or ())
    return [cast("Mapping[str, Any]", one) for one in found if isinstance(one, Mapping)]
