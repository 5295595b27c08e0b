"""This module makes the property of one `@param`, and refuses what contradicts itself."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from toolcrib.errors import InvalidOptions

TYPES: Mapping[str, tuple[type, ...]] = {
    "string": (str,),
    "number": (int, float),
    "integer": (int,),
    "boolean": (bool,),
    "array": (list, tuple),
    "object": (dict,),
    "null": (type(None),),
}
"""JSON Schema's types, and the Python values that are of each."""
MORE = frozenset(
    {
        "items",
        "properties",
        "additionalProperties",
        "minimum",
        "maximum",
        "exclusiveMinimum",
        "exclusiveMaximum",
        "multipleOf",
        "minLength",
        "maxLength",
        "pattern",
        "format",
        "minItems",
        "maxItems",
        "uniqueItems",
        "anyOf",
        "oneOf",
        "allOf",
        "examples",
        "writeOnly",
        "title",
        "const",
    }
)
"""Further keywords that a property may carry; anything else is a slip of the pen."""


def parameter(
    name: str,
    kind: str,
    description: str,
    *,
    required: bool,
    enum: Sequence[Any] | None,
    default: Any,
    more: Mapping[str, Any],
) -> dict[str, Any]:
    """`{type, description}`, with `enum` and `default` where given. Raises InvalidOptions."""
    if kind not in TYPES:
        raise _refused(name, f"has the unknown type {kind!r}", f"Use one of {', '.join(TYPES)}.")
    strangers = sorted(set(more) - MORE)
    if strangers:
        raise _refused(name, f"has the unknown keyword {strangers[0]!r}", "Look at its spelling.")
    rule: dict[str, Any] = {"type": kind, "description": description, **more}
    if enum is not None:
        rule["enum"] = list(enum)
        if any(not _is(value, kind) for value in enum):
            raise _refused(name, f"has an enum whose values are not all of type {kind}")
    if default is None:
        return rule
    if required:
        raise _refused(name, "is required and has a default", "It is one or the other.")
    if not _is(default, kind):
        raise _refused(name, f"has a default that is not of type {kind}")
    if enum is not None and default not in enum:
        raise _refused(name, f"has the default {default!r}, which its enum does not have")
    return {**rule, "default": default}


def _is(value: object, kind: str) -> bool:
    if isinstance(value, bool):
        return kind == "boolean"
    return isinstance(value, TYPES[kind])


def _refused(name: str, what: str, hint: str = "") -> InvalidOptions:
    return InvalidOptions(f"The parameter {name!r} {what}.", where=name, hint=hint or None)
