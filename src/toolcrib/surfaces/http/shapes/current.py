"""This module shows the present row of a conflict, in the shape that a GET gives it."""

from __future__ import annotations

from typing import Any

from toolcrib.catalog.capabilities import Capability
from toolcrib.catalog.pins import Pin
from toolcrib.desk.package_views import PackageView
from toolcrib.grants.agents import Agent
from toolcrib.identity.accounts import Group, User
from toolcrib.surfaces.http.shapes.agents import AgentRow
from toolcrib.surfaces.http.shapes.capabilities import CapabilityRow
from toolcrib.surfaces.http.shapes.fields import Row
from toolcrib.surfaces.http.shapes.groups import GroupRow
from toolcrib.surfaces.http.shapes.packages import PackageRow
from toolcrib.surfaces.http.shapes.pins import PinRow
from toolcrib.surfaces.http.shapes.users import UserRow


def row_of(thing: object) -> dict[str, Any] | None:
    """None for what has no row of its own."""
    shaped = _shaped(thing)
    return None if shaped is None else shaped.model_dump(mode="json")


def _shaped(thing: object) -> Row | None:
    match thing:
        case Capability():
            return CapabilityRow.of(thing)
        case Agent():
            return AgentRow.of(thing)
        case User():
            return UserRow.of(thing)
        case Group():
            return GroupRow.of(thing)
        case Pin():
            return PinRow.of(thing)
        case PackageView():
            return PackageRow.of(thing)
        case _:
            return None
