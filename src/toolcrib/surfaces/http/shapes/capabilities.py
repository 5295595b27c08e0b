"""This module shapes capabilities."""

from __future__ import annotations

from datetime import datetime
from typing import Annotated

from pydantic import Field

from toolcrib.catalog.capabilities import AccessType, CapabilityDraft, CapabilityType
from toolcrib.desk.drafts import MAX_ORDERING
from toolcrib.surfaces.http.shapes.fields import (
    Body,
    IdField,
    JsonObject,
    Mirror,
    Name,
    Text,
    omittable,
)

Ordering = Annotated[int, Field(ge=-MAX_ORDERING, le=MAX_ORDERING)]


class CapabilityBody(Body):
    name: Name
    code: Name
    type: CapabilityType = "internal"
    options: JsonObject | None = None
    description: Text = ""
    is_default: bool = False
    ordering: Ordering = 0
    access_type: AccessType = "user"
    group_id: IdField | None = None
    help: Text = ""
    help_url: Text = ""

    def draft(self) -> CapabilityDraft:
        return CapabilityDraft(**self.model_dump())


class CapabilityPatch(Body):
    name: Name = omittable()
    code: Name = omittable()
    type: CapabilityType = omittable()
    options: JsonObject | None = omittable()
    description: Text = omittable()
    is_default: bool = omittable()
    ordering: Ordering = omittable()
    access_type: AccessType = omittable()
    group_id: IdField | None = omittable()
    help: Text = omittable()
    help_url: Text = omittable()


class FromRegisteredBody(Body):
    code: Name
    group_id: IdField
    name: Name | None = None
    description: Text | None = None
    is_default: bool = False
    ordering: Ordering = 0


class CapabilityRow(Mirror):
    id: int
    name: str
    code: str
    type: CapabilityType
    options: JsonObject | None
    description: str
    is_default: bool
    ordering: int
    access_type: AccessType
    group_id: int | None
    owner_id: int | None
    archived: bool
    help: str
    help_url: str
    version: int
    created_at: datetime | None
    updated_at: datetime | None


class RegisteredRow(Mirror):
    code: str
    name: str
    description: str
    tools: list[str]
    activated: bool
    capability_id: int | None
