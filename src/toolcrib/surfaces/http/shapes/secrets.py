"""This module shapes secrets: names, hosts and status, never values."""

from __future__ import annotations

from datetime import datetime
from typing import Annotated, Any, Literal, Self

from pydantic import Field

from toolcrib.desk.checking import MAX_VALUE
from toolcrib.desk.secrets import ListedSecret
from toolcrib.surfaces.http.shapes.fields import Body, Row


class SecretBody(Body):
    value: Annotated[str, Field(max_length=MAX_VALUE)]
    hosts: Annotated[list[str], Field(max_length=100)] = Field(default_factory=list[Any])


class SecretRow(Row):
    name: str
    status: Literal["configured", "missing", "undecryptable"]
    hosts: list[str]
    used_by: list[str]
    updated_at: datetime

    @classmethod
    def of(cls, listed: ListedSecret) -> Self:
        info = listed.info
        return cls(
            name=info.name,
            status=info.status,
            hosts=list(info.hosts),
            used_by=list(listed.used_by),
            updated_at=info.updated_at,
        )
