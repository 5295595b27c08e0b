"""This module shapes groups."""

from __future__ import annotations

from datetime import datetime

from toolcrib.surfaces.http.shapes.fields import Body, Mirror, Name


class GroupBody(Body):
    name: Name


class GroupRow(Mirror):
    id: int
    name: str
    created_at: datetime
    version: int
