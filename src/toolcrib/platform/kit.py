"""This module binds the kit of this process to the platform that was opened last."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from toolcrib.coordination.cache import Cache, LocalCache
from toolcrib.kit.mcp_connector import McpConnector
from toolcrib.kit.mcp_registry import get_mcp_registry
from toolcrib.plugin.host import enter
from toolcrib.sources.mcp.for_kit import KitConnector

if TYPE_CHECKING:
    from toolcrib.platform.platform import Platform

_bound: list[tuple[McpConnector, Cache]] = []


def bind_kit(platform: Platform) -> Callable[[], None]:
    """Let the process's MCP registry reach servers and the shared cache, and classes of the kit
    their host. Returns what unbinds them; the platform that was open before is bound again then."""
    mine = (KitConnector(platform.servers, platform.home), platform.storage.cache)
    leave = enter(platform.host)
    _bound.append(mine)
    _apply()

    def unbind() -> None:
        leave()
        _bound.remove(mine)
        _apply()

    return unbind


def _apply() -> None:
    registry = get_mcp_registry()
    registry.connector, registry.cache = _bound[-1] if _bound else (None, LocalCache())
