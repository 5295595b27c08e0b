"""This module shapes installed tool classes as people's lists show them."""

from __future__ import annotations

from toolcrib.surfaces.http.shapes.fields import Row


class MethodRow(Row):
    name: str
    enabled: bool
    display_name: str
    description: str
    is_core: bool
    visible: bool


class ToolClassRow(Row):
    name: str
    tool_class: str
    enabled: bool
    display_name: str
    description: str
    icon: str | None = None
    color: str | None = None
    is_core: bool
    weight: int
    visible: bool
    methods: list[MethodRow]


class ToolWithGuide(ToolClassRow):
    usage_guide: str | None
    """What a model reads when it asks for it."""


class ToolClasses(Row):
    success: bool = True
    tools: list[ToolClassRow]


class OneTool(Row):
    success: bool = True
    tool: ToolWithGuide
