"""This module loads the schemas of MCP tools: from the cache, else from their server."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Iterable, Mapping
from typing import Any

from toolcrib.coordination.cache import Cache
from toolcrib.kit.mcp_connector import McpConnector, McpServer, server_of
from toolcrib.kit.mcp_schemas import SchemaCache, Schemas, key_of
from toolcrib.kit.mcp_tool import MCPToolInfo, as_function

_log = logging.getLogger(__name__)
SECONDS = 15.0
"""How long a server may take to list its tools."""


class Discovery:
    """Without a `connector` only the cache is read."""

    def __init__(self, connector: McpConnector | None, cache: Cache) -> None:
        self._connector = connector
        self._cache = SchemaCache(cache)

    async def prewarm(self, infos: Iterable[MCPToolInfo], account_id: str | None) -> int:
        """Fill in missing schemas from the cache alone; returns how many."""
        filled = 0
        for members, toolkit, server in _by_server(infos, account_id):
            known = await self._cache.get(toolkit, server)
            filled += _fill(members, known or {})
        return filled

    async def load(self, infos: Iterable[MCPToolInfo], account_id: str | None) -> None:
        """Fill in missing schemas; a server that fails is logged and hides no other."""
        groups = _by_server(infos, account_id)
        await asyncio.gather(*(self._load(members, account_id) for members, _, _ in groups))

    async def schemas(self, infos: list[MCPToolInfo], account_id: str | None) -> Schemas:
        """All schemas of the server of these tools. What the cache has is enough if it has them
        all; else the server is asked and its whole answer kept. Raises what the connector raises.
        """
        first = infos[0]
        server = server_of(first.mcp_config, account_id)
        known = await self._cache.get(first.toolkit_slug, server) or {}
        if self._connector is None or all(info.tool_name in known for info in infos):
            return known
        async with asyncio.timeout(SECONDS):
            specs = await self._connector.list_tools(server)
        found = {s.name: as_function(s.name, s.description, s.input_schema) for s in specs}
        await self._cache.put(first.toolkit_slug, server, found)
        return found

    async def _load(self, members: list[MCPToolInfo], account_id: str | None) -> None:
        first = members[0]
        try:
            _fill(members, await self.schemas(members, account_id))
        except Exception as error:  # noqa: BLE001 - one server must not hide the others
            words = str(error) or type(error).__name__
            _log.warning("schemas of %r could not be loaded: %s", first.toolkit_slug, words)


def _by_server(
    infos: Iterable[MCPToolInfo], account_id: str | None
) -> list[tuple[list[MCPToolInfo], str, McpServer]]:
    """The tools that lack a schema, together with those of the same toolkit and server."""
    groups: dict[str, tuple[list[MCPToolInfo], str, McpServer]] = {}
    for info in infos:
        if info.schema is None:
            server = server_of(info.mcp_config, account_id)
            key = key_of(info.toolkit_slug, server)
            groups.setdefault(key, ([], info.toolkit_slug, server))[0].append(info)
    return list(groups.values())


def _fill(members: Iterable[MCPToolInfo], known: Mapping[str, dict[str, Any]]) -> int:
    found = [info for info in members if info.tool_name in known]
    for info in found:
        info.schema = known[info.tool_name]
    return len(found)
