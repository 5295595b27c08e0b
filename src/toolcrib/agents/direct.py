"""This module reads `@tool:name({...})`: a call that a person writes, without a model."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from typing import Any, cast

from toolcrib.errors import InvalidRequest
from toolcrib.tools.strict_json import read_strict_json

_START = re.compile(r"^\s*@tool:(?P<name>[A-Za-z0-9_.-]{1,128})\s*(?P<rest>.*)$", re.DOTALL)


@dataclass(frozen=True, kw_only=True, slots=True)
class DirectCall:
    name: str
    arguments: dict[str, Any] = field(default_factory=dict[str, Any])


def read_direct_call(text: str) -> DirectCall | None:
    """None when the text is not a direct call; InvalidRequest with the place when it is a bad one.

    `@tool:now`, `@tool:now()` and `@tool:now({})` are the same call.
    """
    if not text.lstrip().startswith("@tool:"):
        return None
    start = _START.match(text)
    if start is None:
        raise InvalidRequest("After `@tool:` comes a tool's name.", where="content")
    name, rest = start["name"], start["rest"].strip()
    if not rest:
        return DirectCall(name=name)
    if not (rest.startswith("(") and rest.endswith(")")):
        raise InvalidRequest(
            f"The call of {name!r} is not closed.",
            where="content",
            hint='Write it as @tool:name({"argument": "value"}).',
        )
    return DirectCall(name=name, arguments=_arguments(name, rest[1:-1].strip()))


def _arguments(name: str, text: str) -> dict[str, Any]:
    if not text:
        return {}
    try:
        value = read_strict_json(text)
    except InvalidRequest as error:
        raise InvalidRequest(
            f"The arguments of {name!r} are not JSON: {error.message}",
            where=f"content, {error.where}" if error.where else "content",
            hint=error.hint,
        ) from None
    if not isinstance(value, dict):
        raise InvalidRequest(f"The arguments of {name!r} must be a JSON object.", where="content")
    return cast("dict[str, Any]", value)
