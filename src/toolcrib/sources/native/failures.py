"""This module puts a tool's failure into words: no traceback, no argument's value."""

from __future__ import annotations

import traceback
from collections.abc import Iterable, Mapping
from typing import Any, cast

from toolcrib.tools.addresses import without_addresses

_MAX_MESSAGE = 4000
_MAX_PROBLEMS = 10


def words_of(error: BaseException) -> str:
    """`Type: message`, of bounded length."""
    kind = type(error).__name__
    try:
        text = "; ".join(problems_of(error)) or without_addresses(str(error).strip())
    except Exception:  # noqa: BLE001 - a foreign __str__ may raise anything
        text = ""
    if len(text) > _MAX_MESSAGE:
        text = text[: _MAX_MESSAGE - 1] + "…"
    return f"{kind}: {text}" if text else kind


def place_of(error: BaseException) -> str:
    """`file:line` where it was raised, for the log."""
    frames = traceback.extract_tb(error.__traceback__)
    return f"{frames[-1].filename}:{frames[-1].lineno}" if frames else "?"


def is_validation_error(error: BaseException) -> bool:
    """Whether it is a ValidationError of pydantic, of either API."""
    kind = type(error)
    home = kind.__module__.partition(".")[0]
    return kind.__name__ == "ValidationError" and home in {"pydantic", "pydantic_core"}


def problems_of(error: BaseException) -> list[str]:
    """What a pydantic ValidationError found, as `path: message`; empty for any other error."""
    if not is_validation_error(error):
        return []
    found = cast("list[dict[str, Any]]", cast("Any", error).errors())
    more = [f"and {len(found) - _MAX_PROBLEMS} more"] if len(found) > _MAX_PROBLEMS else []
    return [_problem(one) for one in found[:_MAX_PROBLEMS]] + more


def _problem(found: Mapping[str, Any]) -> str:
    path = ".".join(str(step) for step in found.get("loc") or ())
    text = str(found.get("msg") or "is not valid")
    # A validator written by the author may quote what it was given.
    for value in _texts(found.get("input")):
        text = text.replace(value, "***")
    return f"{path}: {text}" if path else text


def _texts(value: object) -> Iterable[str]:
    if isinstance(value, str):
        return [value] if len(value) >= 4 else []
    if isinstance(value, Mapping):
        return [t for v in cast("Mapping[Any, Any]", value).values() for t in _texts(v)]
    if isinstance(value, list | tuple):
        return [t for v in cast("Iterable[Any]", value) for t in _texts(v)]
    if isinstance(value, int | float) and not isinstance(value, bool):
        return _texts(str(value))
    return []
