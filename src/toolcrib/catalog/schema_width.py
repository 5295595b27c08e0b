"""This module says whether a keyword of a JSON Schema lets more through than before, or less."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final, cast

from toolcrib.catalog.changes import ChangeKind
from toolcrib.tools.canonical import canonical_json

_FLOORS = frozenset({"minimum", "exclusiveMinimum", "minLength", "minItems", "minProperties"})
_CEILINGS = frozenset({"maximum", "exclusiveMaximum", "maxLength", "maxItems", "maxProperties"})
_LIMITS = frozenset({"pattern", "format", "const", "multipleOf", "uniqueItems", "enum"})


class Missing:
    """What stands for a keyword that is not there."""


NONE: Final = Missing()


def as_object(value: object) -> Mapping[str, Any] | None:
    return cast("Mapping[str, Any]", value) if isinstance(value, Mapping) else None


def as_list(value: object) -> list[Any] | None:
    return cast("list[Any]", value) if isinstance(value, list) else None


def width(key: str, one: Any, other: Any) -> ChangeKind:
    """Whether a limit lets more through; `schema_changed` where that cannot be said."""
    if key in _FLOORS | _CEILINGS | _LIMITS and (one is NONE or other is NONE):
        return "schema_narrowed" if one is NONE else "schema_widened"
    old, new = as_list(one), as_list(other)
    if key == "enum" and old is not None and new is not None:
        return _width_of_lists(old, new)
    if key in _FLOORS | _CEILINGS and _is_number(one) and _is_number(other):
        return "schema_widened" if (other < one) == (key in _FLOORS) else "schema_narrowed"
    if key == "additionalProperties":
        return width_of_booleans(one, other)
    return "schema_changed"


def _width_of_lists(one: list[Any], other: list[Any]) -> ChangeKind:
    old, new = {canonical_json(v) for v in one}, {canonical_json(v) for v in other}
    if old < new:
        return "schema_widened"
    return "schema_narrowed" if new < old else "schema_changed"


def width_of_booleans(one: object, other: object) -> ChangeKind:
    if other is False:
        return "schema_narrowed"
    if one is False or other is True:
        return "schema_widened"
    return "schema_narrowed" if one is True or one is NONE else "schema_changed"


def _is_number(value: object) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)
