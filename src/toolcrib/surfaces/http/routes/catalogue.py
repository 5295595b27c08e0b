"""This module serves the catalogue of installed tool classes, in Kortix's shape."""

from __future__ import annotations

from typing import Annotated

from fastapi import Path

from toolcrib.surfaces.http.asking import TheCaller, TheDesk, router
from toolcrib.surfaces.http.shapes.catalogue import (
    OneTool,
    ToolClasses,
    ToolClassRow,
    ToolWithGuide,
)

routes = router("catalogue", "/tools")


@routes.get("")
async def list_all(caller: TheCaller, desk: TheDesk) -> ToolClasses:
    """The installed tool classes that people's lists show, the lowest weight first.

    What an agent has of them is another question: GET /api/v1/agents/{agent_id}/tools.
    """
    found = await desk.tool_classes.list(caller)
    return ToolClasses(tools=[ToolClassRow(**one) for one in found])


@routes.get("/{tool_name}")
async def show(
    tool_name: Annotated[str, Path(max_length=128, description="As the catalogue calls it.")],
    caller: TheCaller,
    desk: TheDesk,
) -> OneTool:
    """One installed tool class, visible or not, with its guide."""
    return OneTool(tool=ToolWithGuide(**await desk.tool_classes.get(caller, tool_name)))
