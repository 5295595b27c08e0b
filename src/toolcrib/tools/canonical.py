"""This module writes a JSON value in its one canonical form, so that equal values have equal bytes.

The form is that of RFC 8785: no blanks, keys by their UTF-16 units, numbers by their value. Two
things differ from it. Whole numbers keep all their digits, so that two large ones stay two. Text
is never normalised and half of a surrogate pair is kept, so that look-alikes stay apart.
"""

from __future__ import annotations

import hashlib
import json
import math
from collections.abc import Iterable, Mapping
from typing import Any, cast


def canonical_json(value: object) -> bytes:
    """The canonical bytes. Raises TypeError for what is no JSON value.

    `1`, `1.0` and `1e0` are one number; `true` and `1` are two values.
    """
    plain = _plain(value)
    text = json.dumps(plain, ensure_ascii=False, separators=(",", ":"), allow_nan=True)
    return text.encode("utf-8", "surrogatepass")


def digest(value: object) -> str:
    """`sha256:` and 64 hexadecimal digits over the canonical bytes."""
    return f"sha256:{hashlib.sha256(canonical_json(value)).hexdigest()}"


def _plain(value: object) -> Any:
    if value is None or isinstance(value, str | bool | int):
        return value
    if isinstance(value, float):
        return int(value) if math.isfinite(value) and value.is_integer() else value
    if isinstance(value, Mapping):
        given = cast("Mapping[object, object]", value)
        return {key: _plain(given[key]) for key in _ordered(given)}
    if isinstance(value, list | tuple):
        return [_plain(one) for one in cast("list[object]", value)]
    raise TypeError(f"{type(value).__name__} is no JSON type")


def _ordered(keys: Iterable[object]) -> list[str]:
    names: list[str] = []
    for key in keys:
        if not isinstance(key, str):
            raise TypeError(f"{key!r} is no key of a JSON object")
        names.append(key)
    if all(name.isascii() for name in names):
        return sorted(names)
    return sorted(names, key=lambda name: name.encode("utf-16-be", "surrogatepass"))
