"""This module keeps out of records what a schema declares private."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, cast

HIDDEN = "***"


def private_names(schema: Mapping[str, Any]) -> frozenset[str]:
    """Arguments whose values are for the tool alone: `format: password`, `writeOnly`.

    Only top-level properties are looked at; a tool that nests passwords should not be one tool.
    """
    properties = cast("Mapping[str, Any]", schema.get("properties") or {})
    return frozenset(name for name, rule in properties.items() if _is_private(rule))


def without(arguments: Mapping[str, Any], private: frozenset[str]) -> Mapping[str, Any]:
    """The arguments with the private values replaced."""
    hidden = private.intersection(arguments) if private else ()
    return {**arguments, **dict.fromkeys(hidden, HIDDEN)} if hidden else arguments


def _is_private(rule: object) -> bool:
    if not isinstance(rule, Mapping):
        return False
    known = cast("Mapping[str, Any]", rule)
    if known.get("writeOnly") is True or known.get("format") == "password":
        return True
    branches = cast("list[object]", known.get("anyOf") or known.get("oneOf") or [])
    return any(_is_private(branch) for branch in branches)
