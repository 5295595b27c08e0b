"""This module shows the installed tool classes, in Kortix's shape."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from typing import Any

from toolcrib.errors import NotFound
from toolcrib.grants.decide import TOOL_CLASSES, decide
from toolcrib.identity.caller import Caller
from toolcrib.kit.catalogue import get_tool_usage_guide
from toolcrib.kit.descriptions import get_tool_metadata, get_tools_metadata


class ToolClasses:
    """The catalogue. A token that is bound to an agent is shown none: it has its agent's tools."""

    async def list(self, caller: Caller) -> Sequence[dict[str, Any]]:
        """Those that people's lists show, the lowest weight first."""
        if not decide(caller, "see", TOOL_CLASSES):
            return []
        found = await asyncio.to_thread(get_tools_metadata)
        return [one for one in found if one["visible"]]

    async def get(self, caller: Caller, name: str) -> dict[str, Any]:
        """One, visible or not, with its `usage_guide`. Raises NotFound."""
        found = None
        if decide(caller, "see", TOOL_CLASSES):
            found = await asyncio.to_thread(get_tool_metadata, name)
        if found is None:
            raise NotFound(f"No tool {name!r} is installed.", hint="GET /tools lists them.")
        return {**found, "usage_guide": get_tool_usage_guide(name)}
