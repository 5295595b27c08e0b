"""This module remembers the schemas of MCP servers for a day, so that listing asks none of them.

A key holds the toolkit, and a hash of the server's identity and the account: two accounts never
read each other's schemas. A cache that fails is a cache that is empty.
"""

from __future__ import annotations

import hashlib
import json
import logging
from collections.abc import Mapping
from typing import Any, cast

from toolcrib.coordination.cache import Cache
from toolcrib.kit.mcp_connector import McpServer

_log = logging.getLogger(__name__)
DAY = 24 * 3600.0
Schemas = dict[str, dict[str, Any]]
"""Tool name to function schema."""


class SchemaCache:
    """Whole toolkits of schemas, by server and account."""

    def __init__(self, cache: Cache) -> None:
        self._cache = cache

    async def get(self, toolkit: str, server: McpServer) -> Schemas | None:
        try:
            found = await self._cache.get(key_of(toolkit, server))
            return None if found is None else cast("Schemas", json.loads(found))
        except Exception as error:  # noqa: BLE001 - a cache must not stand in the way
            _log.warning("schemas of %r could not be read from the cache: %s", toolkit, error)
            return None

    async def put(self, toolkit: str, server: McpServer, schemas: Mapping[str, Any]) -> None:
        try:
            value = json.dumps(schemas).encode()
            await self._cache.put(key_of(toolkit, server), value, seconds=DAY)
        except Exception as error:  # noqa: BLE001 - the same
            _log.warning("schemas of %r could not be kept: %s", toolkit, error)


def key_of(toolkit: str, server: McpServer) -> str:
    """`mcp_schema:<toolkit>:<hash>`; the hash tells nothing of the headers that went into it."""
    identity = [server.transport, server.config, server.account_id]
    text = json.dumps(identity, sort_keys=True, default=str)
    return f"mcp_schema:{toolkit}:{hashlib.sha256(text.encode()).hexdigest()[:32]}"
