"""This module keeps out of records what a schema declares private."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, cast

HIDDEN = "***"


def without_private(arguments: Mapping[str, Any], schema: Mapping[str, Any]) -> Mapping[str, Any]:
    """The arguments with `format: password` and `writeOnly` values replaced.

    Only top-level properties are looked at; a tool that nests passwords should not be one tool.
    """
    properties = cast("Mapping[str, Any]", schema.get("properties") or {})
    private = [name for name in arguments if _is_private(properties.get(name))]
    if not private:
        return arguments
    return {**arguments, **dict.fromkeys(private, HIDDEN)}


def _is_private(rule: object) -> bool:
    if not isinstance(rule, Mapping):
        return False
    known = cast("Mapping[str, Any]", rule)
    if known.get("writeOnly") is True or known.get("format") == "password":
        return True
    branches = cast("list[object]", known.get("anyOf") or known.get("oneOf") or [])
    return any(_is_private(branch) for branch in branches)
