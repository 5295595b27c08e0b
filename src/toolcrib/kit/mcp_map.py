"""This module asks the MCP servers of a configuration for their tools, all at once."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Mapping, Sequence
from typing import Any

from toolcrib.coordination.cache import Cache
from toolcrib.errors import SetupError
from toolcrib.kit.mcp_activation import words_of
from toolcrib.kit.mcp_connector import UNBOUND, McpConnector, enabled, named_tools, server_of
from toolcrib.kit.mcp_names import ToolNames
from toolcrib.kit.mcp_tool import MCPToolInfo

_log = logging.getLogger(__name__)
SECONDS = 5.0
"""How long a server may take; a slower one is left out."""
MAX_NAME = 64
"""The vendors' limit; longer names are left out."""
Config = Mapping[str, Any]


class MCPMap:
    """Tool name to info, for one account."""

    def __init__(
        self, connector: McpConnector | None, cache: Cache, account_id: str | None
    ) -> None:
        self._connector = connector
        self._names = ToolNames(cache)
        self._account_id = account_id

    async def build(
        self, custom: Sequence[Config], configured: Sequence[Config], *, asking: bool
    ) -> dict[str, MCPToolInfo]:
        """Of two custom tools with one name the first counts, otherwise the last one.

        Without `asking` no server is contacted: there are the tools that a configuration names.
        """
        servers = [*((c, True) for c in custom), *((c, False) for c in configured)]
        found = await asyncio.gather(
            *(self._tools(config, custom=own, asking=asking) for config, own in servers)
        )
        tools: dict[str, MCPToolInfo] = {}
        for (config, own), infos in zip(servers, found, strict=True):
            for info in infos:
                if own and info.tool_name in tools:
                    where = config.get("name")
                    _log.warning(
                        "the tool %r of the server %r is a second one", info.tool_name, where
                    )
                    continue
                tools[info.tool_name] = info
        return tools

    async def _tools(self, config: Config, *, custom: bool, asking: bool) -> list[MCPToolInfo]:
        slug = toolkit_slug(config, custom=custom)
        names = named_tools(config)
        if asking:
            try:
                async with asyncio.timeout(SECONDS):
                    names = await self._asked(slug, config)
            except Exception as error:  # noqa: BLE001 - one server must not hide the others
                where = config.get("name") or slug
                _log.warning("the MCP server %r is left out: %s", where, words_of(error))
                return []
        return [
            MCPToolInfo(tool_name=name, toolkit_slug=slug, mcp_config=dict(config))
            for name in dict.fromkeys(names)
            if len(name) <= MAX_NAME
        ]

    async def _asked(self, slug: str, config: Config) -> list[str]:
        server = server_of(config, self._account_id)
        found = await self._names.get(slug, server)
        if found is None:
            if self._connector is None:
                raise SetupError(UNBOUND)
            found = [spec.name for spec in await self._connector.list_tools(server)]
            await self._names.put(slug, server, found)
        return [name for name in found if enabled(config, name)]


def toolkit_slug(config: Config, *, custom: bool) -> str:
    """`custom_{type}_{name}` of a custom server; of another its own slug."""
    name = str(config.get("name") or config.get("qualifiedName") or "server")
    plain = name.lower().replace(" ", "_")
    if custom:
        return f"custom_{config.get('customType') or config.get('type') or 'http'}_{plain}"
    return str(config.get("toolkit_slug") or plain)
