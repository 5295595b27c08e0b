"""This module shapes users."""

from __future__ import annotations

from datetime import datetime
from typing import Annotated, Literal, Self

from pydantic import Field

from toolcrib.desk.checking import MAX_PASSWORD, MIN_PASSWORD
from toolcrib.identity.accounts import User
from toolcrib.surfaces.http.shapes.fields import Body, IdField, Name, Row, omittable

RoleName = Literal["super_admin", "admin", "user"]
Password = Annotated[
    str,
    Field(
        min_length=MIN_PASSWORD,
        max_length=MAX_PASSWORD,
        json_schema_extra={"format": "password", "writeOnly": True},
    ),
]
Words = Annotated[list[str], Field(max_length=100)]
Ids = Annotated[list[IdField], Field(max_length=10_000)]


class UserBody(Body):
    name: Name
    role: RoleName = "user"
    group_ids: Ids = Field(default_factory=list[int])
    entitlements: Words = Field(default_factory=list[str])
    password: Password | None = None


class UserPatch(Body):
    role: RoleName = omittable()
    group_ids: Ids = omittable()
    entitlements: Words = omittable()


class PasswordBody(Body):
    password: Password


class UserRow(Row):
    id: int
    name: str
    role: RoleName
    group_ids: list[int]
    entitlements: list[str]
    has_password: bool
    created_at: datetime
    version: int

    @classmethod
    def of(cls, user: User) -> Self:
        return cls(
            id=user.id,
            name=user.name,
            role=user.role.value,
            group_ids=sorted(user.group_ids),
            entitlements=sorted(user.entitlements),
            has_password=user.has_password,
            created_at=user.created_at,
            version=user.version,
        )
