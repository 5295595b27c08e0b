"""This module says what is wrong with a request's fields: the places, never the values."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from fastapi.exceptions import RequestValidationError
from starlette.requests import Request
from starlette.responses import Response

from toolcrib.surfaces.http.problems import problem

_PARTS = frozenset({"body", "query", "path", "header"})
_SHOWN = 5


async def on_invalid(request: Request, error: Exception) -> Response:
    assert isinstance(error, RequestValidationError)  # noqa: S101 - registered for these only
    found = [_sentence(one) for one in error.errors()]
    return problem(
        422,
        "; ".join(words for _, words in found[:_SHOWN]),
        code="invalid_request",
        where=found[0][0] if found else None,
    )


def _sentence(one: Mapping[str, Any]) -> tuple[str | None, str]:
    place = _place(one["loc"])
    if place is None:
        return None, "The request needs a JSON object as its body."
    words = str(one["msg"]).removeprefix("Value error, ")
    if one["type"] == "extra_forbidden":
        words = "There is no such field"
    elif one["type"] == "missing":
        words = "This field is needed"
    elif str(one["type"]).startswith("datetime_"):
        words = "Write a UTC time, as in 2030-01-31T12:00:00Z"
    return place, f"{place}: {words.rstrip('.')}."


def _place(location: Sequence[int | str]) -> str | None:
    inside = location[1:] if location and location[0] in _PARTS else location
    return ".".join(str(part) for part in inside) or None
