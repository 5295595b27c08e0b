"""This module holds a request to the query parameters that its route has.

A misspelled name would be ignored otherwise, and the answer would not be what was asked for.
"""

from __future__ import annotations

from collections.abc import Iterator

from fastapi.dependencies.models import Dependant
from starlette.requests import Request

from toolcrib.errors import InvalidRequest

_SHOWN = 5
_LONGEST = 64


def query_names(route: Dependant) -> frozenset[str]:
    """The parameters that a route and all it depends on take from the query."""
    return frozenset(_names(route))


def require_known(request: Request, known: frozenset[str]) -> None:
    """Raises InvalidRequest that names a parameter which the route has not."""
    if not request.scope["query_string"]:
        return
    strange = [name for name in dict.fromkeys(request.query_params) if name not in known]
    if strange:
        shown = ", ".join(repr(name[:_LONGEST]) for name in strange[:_SHOWN])
        raise InvalidRequest(
            f"There is no such query parameter here: {shown}.",
            where=strange[0][:_LONGEST],
            hint=f"There are: {', '.join(sorted(known))}." if known else "This route takes none.",
        )


def _names(dependant: Dependant) -> Iterator[str]:
    for field in dependant.query_params:
        yield field.alias
    for inner in dependant.dependencies:
        yield from _names(inner)
