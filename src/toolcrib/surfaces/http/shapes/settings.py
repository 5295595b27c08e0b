"""This module shapes settings: names and owners, never values."""

from __future__ import annotations

from datetime import datetime
from typing import Annotated, Any, Literal, Self

from pydantic import Field

from toolcrib.desk.checking import MAX_VALUE
from toolcrib.secrets.settings import SettingInfo
from toolcrib.surfaces.http.shapes.fields import Body, IdField, Row

Hosts = Annotated[list[str], Field(max_length=100)]


class SettingBody(Body):
    value: Annotated[str, Field(max_length=MAX_VALUE)]
    user_id: IdField | None = None
    group_id: IdField | None = None
    hosts: Hosts = Field(default_factory=list[Any])


class SettingRow(Row):
    name: str
    scope: Literal["user", "group"]
    user_id: int | None
    group_id: int | None
    status: Literal["configured", "undecryptable"]
    hosts: list[str]
    updated_at: datetime

    @classmethod
    def of(cls, info: SettingInfo) -> Self:
        owner = info.owner
        return cls(
            name=info.name,
            scope="user" if owner.user_id is not None else "group",
            user_id=owner.user_id,
            group_id=owner.group_id,
            status=info.status,
            hosts=list(info.hosts),
            updated_at=info.updated_at,
        )
