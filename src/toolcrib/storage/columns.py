"""This module holds the column types: what goes in comes out the same from every database."""

from __future__ import annotations

import json
from collections.abc import Mapping
from datetime import UTC, datetime
from typing import Any, cast

from sqlalchemy import JSON, BigInteger, DateTime, Dialect, Integer, Text, TypeDecorator
from sqlalchemy.types import TypeEngine

from toolcrib.errors import InvalidRequest

LARGEST = 2**63 - 1


class Id(TypeDecorator[int]):
    """A row's id. One that no database could hold becomes the largest: it is nobody's."""

    impl = BigInteger
    cache_ok = True

    def load_dialect_impl(self, dialect: Dialect) -> TypeEngine[Any]:
        return Integer() if dialect.name == "sqlite" else BigInteger()

    def process_bind_param(self, value: int | None, dialect: Dialect) -> int | None:
        return None if value is None else max(-LARGEST, min(value, LARGEST))


class Number(TypeDecorator[int]):
    """A whole number that people choose. Raises InvalidRequest past 64 bits."""

    impl = BigInteger
    cache_ok = True

    def process_bind_param(self, value: int | None, dialect: Dialect) -> int | None:
        if value is not None and abs(value) > LARGEST:
            raise InvalidRequest(f"The number {value} is too large to store.")
        return value


class Moment(TypeDecorator[datetime]):
    """A point in time: aware going in, UTC coming out, microseconds kept."""

    impl = DateTime(timezone=True)
    cache_ok = True

    def process_bind_param(self, value: datetime | None, dialect: Dialect) -> datetime | None:
        if value is None:
            return None
        if value.tzinfo is None:
            raise ValueError(f"{value!r} has no time zone.")
        moment = value.astimezone(UTC)
        return moment.replace(tzinfo=None) if dialect.name == "sqlite" else moment

    def process_result_value(self, value: datetime | None, dialect: Dialect) -> datetime | None:
        if value is None:
            return None
        return value.replace(tzinfo=UTC) if value.tzinfo is None else value.astimezone(UTC)


class Words(TypeDecorator[str]):
    """Text that every database can hold, at most `longest` characters.

    Raises InvalidRequest for NUL and for half of a surrogate pair: PostgreSQL refuses them, so
    SQLite does here too.
    """

    impl = Text
    cache_ok = True

    def __init__(self, longest: int | None = None) -> None:
        super().__init__()
        self.longest = longest

    def process_bind_param(self, value: str | None, dialect: Dialect) -> str | None:
        if value is not None:
            self._check(value)
        return value

    def _check(self, value: str) -> None:
        if self.longest is not None and len(value) > self.longest:
            raise InvalidRequest(
                f"The text {value[:40]!r}… is longer than {self.longest} characters."
            )
        if "\0" in value or not _is_unicode(value):
            raise InvalidRequest(
                f"The text {value[:40]!r} holds a character that cannot be stored.",
                hint="Leave out NUL and unpaired surrogates.",
            )


class Sortable(Words):
    """Text that sorts by its characters' numbers, whatever the database's language."""

    cache_ok = True

    def load_dialect_impl(self, dialect: Dialect) -> TypeEngine[Any]:
        return Text(collation="C") if dialect.name == "postgresql" else Text()


class Json(TypeDecorator[Any]):
    """A JSON value, kept as text; None is SQL's NULL."""

    impl = JSON(none_as_null=True)
    cache_ok = True


def dump_json(value: object) -> str:
    """Raises InvalidRequest for what is no JSON: NaN, or an object of Python's own."""
    try:
        return json.dumps(value, allow_nan=False, separators=(",", ":"), default=_plain)
    except (TypeError, ValueError, RecursionError) as error:
        raise InvalidRequest(f"The value cannot be stored as JSON: {error}.") from None


def _plain(value: object) -> object:
    if isinstance(value, Mapping):
        return dict(cast("Mapping[str, Any]", value))
    raise TypeError(f"{type(value).__name__} is no JSON type")


def _is_unicode(value: str) -> bool:
    try:
        value.encode()
    except UnicodeEncodeError:
        return False
    return True
