"""This module holds what a kit method returns."""

from __future__ import annotations

import json
import math
from collections.abc import AsyncIterator, Awaitable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, cast

from toolcrib.tools.addresses import has_address, without_addresses


@dataclass
class ToolResult:
    """Whether it worked, and what a model reads of it."""

    success: bool
    output: Any
    raw: Any = field(default=None, compare=False, repr=False)
    """The value behind an `output` that is its JSON text; None where there is none."""


def succeeded(data: Any) -> ToolResult:
    """A dict or list becomes JSON text and is kept as `raw`; anything else its `str`.

    What has no text of its own, such as a generator, stays as it is.
    """
    if isinstance(data, dict | list):
        return ToolResult(success=True, output=json_text(cast("object", data)), raw=data)
    text = str(data)
    bare = not isinstance(data, str) and has_address(text)
    return ToolResult(success=True, output=data if bare else text)


def failed(message: Any) -> ToolResult:
    return ToolResult(success=False, output=message)


def json_text(data: object) -> str:
    """Compact JSON; what JSON cannot hold, numbers and keys included, becomes its `str`."""
    try:
        return _dumped(data)
    except (TypeError, ValueError):  # a key of another type, NaN, a cycle
        return _dumped(_tidy(data, ()))


def _dumped(data: object) -> str:
    return json.dumps(
        data, ensure_ascii=False, allow_nan=False, separators=(",", ":"), default=_said
    )


def _said(value: object) -> object:
    """What JSON cannot hold. Raises TypeError for what nobody waited for."""
    if isinstance(value, Awaitable | AsyncIterator):
        kind = type(cast("object", value)).__name__
        raise TypeError(f"{kind} has no JSON form: await it")
    if isinstance(value, Iterator):
        return list(cast("Iterator[object]", value))
    return without_addresses(str(value))


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
