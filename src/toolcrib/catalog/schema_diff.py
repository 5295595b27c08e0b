"""This module compares two JSON Schemas: what a caller may send now, and what they could before."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import Any

from toolcrib.catalog.changes import Change, ChangeKind, change, text_change
from toolcrib.catalog.schema_width import NONE, as_list, as_object, width, width_of_booleans
from toolcrib.tools.canonical import canonical_json

_TEXTS = frozenset({"description", "title", "$comment"})
_OF_SCHEMAS = frozenset({"$defs", "definitions", "patternProperties", "dependentSchemas"})
_SCHEMAS = frozenset(
    {"items", "not", "if", "then", "else", "contains", "propertyNames", "additionalProperties"}
    | {"unevaluatedProperties", "unevaluatedItems", "contentSchema", "additionalItems"}
)
_LISTS = frozenset({"anyOf", "oneOf", "allOf", "prefixItems"})


def schema_changes(before: object, after: object, where: str) -> Iterator[Change]:
    """Every difference, none for equal ones."""
    if same(before, after):
        return
    old, new = as_object(before), as_object(after)
    if old is None or new is None:
        yield change(width_of_booleans(before, after), where, before, after)
        return
    for key in sorted({*old, *new}):
        one, other = old.get(key, NONE), new.get(key, NONE)
        if one is NONE or other is NONE or not same(one, other):
            yield from _keyword(key, one, other, _at(where, key))


def same(one: object, other: object) -> bool:
    """Whether two JSON values are equal; `true` is not 1."""
    return canonical_json(one) == canonical_json(other)


def _keyword(key: str, one: Any, other: Any, where: str) -> Iterator[Change]:
    special = _SPECIAL.get(key)
    lists, objects = (as_list(one), as_list(other)), (as_object(one), as_object(other))
    if special is not None:
        yield from special(one, other, where)
    elif key in _TEXTS and _may_be_text(one) and _may_be_text(other):
        yield text_change(where, _text(one), _text(other))
    elif key in _OF_SCHEMAS and objects[0] is not None and objects[1] is not None:
        for name in sorted({*objects[0], *objects[1]}):
            old, new = (held.get(name, NONE) for held in objects if held is not None)
            yield from _member(old, new, _at(where, name))
    elif key in _SCHEMAS and one is not NONE and other is not NONE:
        yield from schema_changes(one, other, where)
    elif key in _LISTS and lists[0] is not None and lists[1] is not None:
        yield from _alternatives(key, lists[0], lists[1], where)
    else:
        yield change(width(key, one, other), where, _shown(one), _shown(other))


def _properties(one: Any, other: Any, where: str) -> Iterator[Change]:
    old, new = (as_object({} if value is NONE else value) for value in (one, other))
    if old is None or new is None or not (old or new):
        yield change("schema_changed", where, _shown(one), _shown(other))
        return
    for name in sorted({*old, *new}):
        place = _at(where, name)
        if name not in old:
            yield change("field_added", place, None, new[name])
        elif name not in new:
            yield change("field_removed", place, old[name], None)
        else:
            yield from schema_changes(old[name], new[name], place)


def _required(one: Any, other: Any, where: str) -> Iterator[Change]:
    old, new = _names(one), _names(other)
    if old is None or new is None or set(old) == set(new):
        yield change("schema_changed", where, _shown(one), _shown(other))
        return
    for name in sorted(set(new) - set(old)):
        yield change("required_added", where, None, name)
    for name in sorted(set(old) - set(new)):
        yield change("required_removed", where, name, None)


def _type(one: Any, other: Any, where: str) -> Iterator[Change]:
    yield change("type_changed", where, _shown(one), _shown(other))


_SPECIAL: Mapping[str, Callable[[Any, Any, str], Iterator[Change]]] = {
    "properties": _properties,
    "required": _required,
    "type": _type,
}


def _member(one: Any, other: Any, where: str) -> Iterator[Change]:
    if one is NONE or other is NONE:
        yield change("schema_changed", where, _shown(one), _shown(other))
    else:
        yield from schema_changes(one, other, where)


def _alternatives(key: str, one: list[Any], other: list[Any], where: str) -> Iterator[Change]:
    if len(one) == len(other):
        for number, (old, new) in enumerate(zip(one, other, strict=True)):
            yield from schema_changes(old, new, f"{where}[{number}]")
        return
    more = len(other) > len(one)
    kept = [canonical_json(v) for v in (other if more else one)]
    grown = all(canonical_json(v) in kept for v in (one if more else other))
    kind: ChangeKind = "schema_changed"
    if grown and key in {"anyOf", "oneOf"}:
        kind = "schema_widened" if more else "schema_narrowed"
    elif grown and key == "allOf":
        kind = "schema_narrowed" if more else "schema_widened"
    yield change(kind, where, one, other)


def _names(value: Any) -> list[str] | None:
    if value is NONE:
        return []
    names = as_list(value)
    return names if names is None or all(isinstance(name, str) for name in names) else None


def _may_be_text(value: Any) -> bool:
    return value is NONE or isinstance(value, str)


def _text(value: Any) -> str:
    return value if isinstance(value, str) else ""


def _shown(value: Any) -> Any:
    return None if value is NONE else value


def _at(where: str, key: str) -> str:
    return f"{where}.{key}" if where else key
