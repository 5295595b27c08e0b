"""This module expands keys with dots: `params.city.type` means `{params: {city: {type: …}}}`.

Only the top level of an options object is read so, and a key that is already nested stays as it
is: a header, a query field or a JSON key may have dots of its own.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, cast

from toolcrib.errors import InvalidOptions

_FLAT = frozenset({"headers"})
"""Sections whose members hold no objects: what follows the first dot is one name."""


def expand_dotted(options: Mapping[str, Any], *, where: str = "options") -> dict[str, Any]:
    """A copy with dotted keys merged into what is nested already; at one place the dotted key wins.

    Raises InvalidOptions where a dotted key runs into something that is not an object.
    """
    expanded = {key: value for key, value in options.items() if "." not in key}
    for key, value in options.items():
        if "." in key:
            _place(expanded, _steps(key, where), value, where)
    return expanded


def _steps(key: str, where: str) -> list[str]:
    head, _, rest = key.partition(".")
    steps = [head, rest] if head in _FLAT else key.split(".")
    if not all(steps):
        raise InvalidOptions(
            f"The key {key!r} has an empty part.",
            where=f"{where}.{key}",
            hint="Write it as in params.city.type.",
        )
    return steps


def _place(target: dict[str, Any], steps: list[str], value: Any, where: str) -> None:
    for step in steps[:-1]:
        where = f"{where}.{step}"
        inner = target.get(step, {})
        if not isinstance(inner, Mapping):
            raise InvalidOptions(
                f"{steps[-1]!r} cannot be placed: {step!r} is not an object.", where=where
            )
        target[step] = dict(cast("Mapping[str, Any]", inner))
        target = target[step]
    last = steps[-1]
    before = target.get(last)
    if isinstance(before, Mapping) and isinstance(value, Mapping):
        target[last] = {**cast("Mapping[str, Any]", before), **cast("Mapping[str, Any]", value)}
    else:
        target[last] = value
