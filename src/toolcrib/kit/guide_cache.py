"""This module shares usage guides between processes, for an hour at a time."""

from __future__ import annotations

import json
import logging
from collections.abc import Iterable, Mapping

from toolcrib.coordination.cache import Cache

_log = logging.getLogger(__name__)
HOUR = 3600.0
VERSION = "v1"
_PREFIX = f"tool_guide:{VERSION}:"


class ToolCache:
    """Guides by tool name. A cache that fails is a cache that is empty."""

    def __init__(self, cache: Cache) -> None:
        self._cache = cache

    async def get_tool_guide(self, tool_name: str) -> str | None:
        try:
            found = await self._cache.get(_PREFIX + tool_name)
            return None if found is None else str(json.loads(found)["guide"])
        except Exception as error:  # noqa: BLE001 - a cache must not stand in the way
            _log.warning("the guide of %r could not be read from the cache: %s", tool_name, error)
            return None

    async def set_tool_guide(self, tool_name: str, guide: str) -> bool:
        """Whether it was kept."""
        value = {"tool_name": tool_name, "guide": guide, "version": VERSION}
        try:
            await self._cache.put(_PREFIX + tool_name, json.dumps(value).encode(), seconds=HOUR)
        except Exception as error:  # noqa: BLE001 - the same
            _log.warning("the guide of %r could not be kept: %s", tool_name, error)
            return False
        return True

    async def get_multiple(self, tool_names: Iterable[str]) -> dict[str, str]:
        """Those that are there."""
        found = {name: await self.get_tool_guide(name) for name in tool_names}
        return {name: guide for name, guide in found.items() if guide is not None}

    async def set_multiple(self, guides: Mapping[str, str]) -> int:
        """How many were kept."""
        return sum([await self.set_tool_guide(name, guide) for name, guide in guides.items()])

    async def invalidate(self, tool_name: str) -> None:
        await self._dropped(_PREFIX + tool_name)

    async def invalidate_all(self) -> None:
        await self._dropped(_PREFIX)

    async def _dropped(self, prefix: str) -> None:
        try:
            await self._cache.drop(prefix)
        except Exception as error:  # noqa: BLE001 - the same
            _log.warning("guides could not be dropped from the cache: %s", error)
