"""This module shapes the reports of plugins."""

from __future__ import annotations

from typing import Literal

from toolcrib.surfaces.http.shapes.fields import Mirror


class PluginRow(Mirror):
    name: str
    distribution: str
    version: str
    value: str
    group: str
    status: Literal["loaded", "failed"]
    error: str | None
    codes: list[str]
