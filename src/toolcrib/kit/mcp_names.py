"""This module remembers for a day which tools a server has, by name."""

from __future__ import annotations

import json
import logging

from toolcrib.coordination.cache import Cache
from toolcrib.kit.mcp_connector import McpServer
from toolcrib.kit.mcp_schemas import DAY, key_of

_log = logging.getLogger(__name__)


class ToolNames:
    """Tool names by toolkit, server and account. A cache that fails is a cache that is empty."""

    def __init__(self, cache: Cache) -> None:
        self._cache = cache

    async def get(self, toolkit: str, server: McpServer) -> list[str] | None:
        try:
            found = await self._cache.get(_key(toolkit, server))
            return None if found is None else [str(name) for name in json.loads(found)]
        except Exception as error:  # noqa: BLE001 - a cache must not stand in the way
            _log.warning("tool names of %r could not be read from the cache: %s", toolkit, error)
            return None

    async def put(self, toolkit: str, server: McpServer, names: list[str]) -> None:
        try:
            await self._cache.put(_key(toolkit, server), json.dumps(names).encode(), seconds=DAY)
        except Exception as error:  # noqa: BLE001 - the same
            _log.warning("tool names of %r could not be kept: %s", toolkit, error)


def _key(toolkit: str, server: McpServer) -> str:
    """`mcp_tools:v1:<toolkit>:<hash>`."""
    return key_of(toolkit, server).replace("mcp_schema:", "mcp_tools:v1:", 1)
