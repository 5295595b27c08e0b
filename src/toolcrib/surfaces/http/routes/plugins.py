"""This module serves the reports of plugins, and tries failed ones again."""

from __future__ import annotations

from typing import Any

from toolcrib.surfaces.http.asking import TheCaller, TheDesk, router
from toolcrib.surfaces.http.paging import AskedWhole, whole
from toolcrib.surfaces.http.shapes.fields import PageOf
from toolcrib.surfaces.http.shapes.plugins import PluginRow

routes = router("plugins", "/api/v1/plugins")


@routes.get("", response_model=PageOf[PluginRow])
async def list_all(caller: TheCaller, desk: TheDesk, asked: AskedWhole) -> Any:
    """Every plugin that was found, and how it loaded. For admins."""
    return whole([PluginRow.of(report) for report in await desk.plugins.list(caller)], asked)


@routes.post("/reload", response_model=PageOf[PluginRow])
async def reload(caller: TheCaller, desk: TheDesk) -> Any:
    """Load new plugins and try failed ones again, in every process. Super-admins only."""
    return whole([PluginRow.of(report) for report in await desk.plugins.reload(caller)])
