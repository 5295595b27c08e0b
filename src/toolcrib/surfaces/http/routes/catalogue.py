"""This module serves the catalogue of installed tool classes, in Kortix's shape."""

from __future__ import annotations

import asyncio
from typing import Annotated

from fastapi import Path

from toolcrib.errors import NotFound
from toolcrib.kit.catalogue import get_tool_usage_guide
from toolcrib.kit.descriptions import get_tool_metadata, get_tools_metadata
from toolcrib.surfaces.http.asking import TheCaller, router
from toolcrib.surfaces.http.shapes.catalogue import (
    OneTool,
    ToolClasses,
    ToolClassRow,
    ToolWithGuide,
)

routes = router("catalogue", "/tools")


@routes.get("")
async def list_all(caller: TheCaller) -> ToolClasses:
    """The installed tool classes that people's lists show, the lowest weight first.

    What an agent has of them is another question: GET /api/v1/agents/{agent_id}/tools.
    """
    found = await asyncio.to_thread(get_tools_metadata)
    return ToolClasses(tools=[ToolClassRow(**one) for one in found if one["visible"]])


@routes.get("/{tool_name}")
async def show(
    tool_name: Annotated[str, Path(max_length=128, description="As the catalogue calls it.")],
    caller: TheCaller,
) -> OneTool:
    """One installed tool class, visible or not, with its guide."""
    found = await asyncio.to_thread(get_tool_metadata, tool_name)
    if found is None:
        raise NotFound(f"No tool {tool_name!r} is installed.", hint="GET /tools lists them.")
    guide = get_tool_usage_guide(tool_name)
    return OneTool(tool=ToolWithGuide(**found, usage_guide=guide))
