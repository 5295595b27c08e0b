"""This module holds the fields that several nouns have in common."""

from __future__ import annotations

import re
from datetime import UTC, datetime
from typing import Annotated, Any, Generic, Self, TypeVar

from pydantic import (
    AfterValidator,
    AwareDatetime,
    BaseModel,
    BeforeValidator,
    ConfigDict,
    Field,
    StringConstraints,
)

Item = TypeVar("Item")
LARGEST_ID = 2**63 - 1
_NUMBER = re.compile(r"\s*[-+]?[\d._]+\s*")
_LOST_PLUS = re.compile(r" (?=\d\d:?\d\d$)")


class Body(BaseModel):
    """What comes in: no unknown fields, and no value of another type read as the right one."""

    model_config = ConfigDict(extra="forbid", strict=True)


class Row(BaseModel):
    """What goes out."""

    model_config = ConfigDict(extra="forbid")


class Mirror(Row):
    """What goes out with the fields of a record."""

    @classmethod
    def of(cls, thing: Any) -> Self:
        """The record's fields, under the names that it has for them."""
        return cls.model_validate(thing, from_attributes=True)


class PageOf(Row, Generic[Item]):
    """A page of a list. `next_cursor` is null on the last one."""

    items: list[Item]
    next_cursor: str | None


def _with_plus(value: Any) -> Any:
    """A `+` that was not encoded in a query arrives as a blank. A bare number is no time."""
    if isinstance(value, int | float) or (isinstance(value, str) and _NUMBER.fullmatch(value)):
        raise ValueError("a time is written as 2026-11-30T12:00:00Z")
    return _LOST_PLUS.sub("+", value) if isinstance(value, str) else value


def _in_utc(value: datetime) -> datetime:
    try:
        return value.astimezone(UTC)
    except OverflowError:
        raise ValueError("The time is out of range") from None


def _without_default(schema: dict[str, Any]) -> None:
    schema.pop("default", None)


Moment = Annotated[
    AwareDatetime, Field(strict=False), BeforeValidator(_with_plus), AfterValidator(_in_utc)
]
"""A time with its zone, ISO 8601; kept in UTC."""
IdField = Annotated[int, Field(ge=1, le=LARGEST_ID)]
Name = Annotated[str, StringConstraints(min_length=1, max_length=255)]
Text = Annotated[str, StringConstraints(max_length=100_000)]
JsonObject = dict[str, Any]


def omittable() -> Any:
    """A field of a PATCH: left out it stays as it is, and null is not a value of it."""
    return Field(default=None, json_schema_extra=_without_default)
