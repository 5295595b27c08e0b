"""This module holds what a kit method returns."""

from __future__ import annotations

import json
import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, cast


@dataclass
class ToolResult:
    """Whether it worked, and what a model reads of it."""

    success: bool
    output: Any
    raw: Any = field(default=None, compare=False, repr=False)
    """The value behind an `output` that is its JSON text; None where there is none."""


def succeeded(data: Any) -> ToolResult:
    """A dict or list becomes JSON text and is kept as `raw`; anything else its `str`."""
    if isinstance(data, dict | list):
        return ToolResult(success=True, output=json_text(cast("object", data)), raw=data)
    return ToolResult(success=True, output=str(data))


def failed(message: Any) -> ToolResult:
    return ToolResult(success=False, output=message)


def json_text(data: object) -> str:
    """Compact JSON; what JSON cannot hold, numbers and keys included, becomes its `str`."""
    try:
        return _dumped(data)
    except (TypeError, ValueError):  # a key of another type, NaN, a cycle
        return _dumped(_tidy(data, ()))


def _dumped(data: object) -> str:
    return json.dumps(data, ensure_ascii=False, allow_nan=False, separators=(",", ":"), default=str)


def _tidy(value: object, above: tuple[int, ...]) -> object:
    if isinstance(value, dict | list | tuple) and id(cast("object", value)) in above:
        return "…"  # it stands inside itself
    if isinstance(value, Mapping):
        members = cast("Mapping[object, object]", value)
        return {str(k): _tidy(v, (*above, id(members))) for k, v in members.items()}
    if isinstance(value, list | tuple):
        items = cast("list[object]", value)
        return [_tidy(item, (*above, id(items))) for item in items]
    if isinstance(value, float) and not math.isfinite(value):
        return str(value)
    return value
