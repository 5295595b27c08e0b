"""This module holds what routes ask for: the caller, the desk, ids and versions."""

from __future__ import annotations

import re
from typing import Annotated, Any

from fastapi import Depends, Header, Path, Request, Response
from fastapi.routing import APIRoute, APIRouter

from toolcrib.desk.desk import Desk
from toolcrib.errors import InvalidRequest
from toolcrib.identity.caller import Caller
from toolcrib.platform import Platform
from toolcrib.surfaces.http.problems import Refusal
from toolcrib.surfaces.http.reading import StrictRoute
from toolcrib.surfaces.http.shapes.problem import RESPONSES

SCOPE_CALLER = "toolcrib.caller"
"""Where authentication puts the Caller in a request's scope."""
SCOPE_CALLER_NOW = "toolcrib.caller_now"
"""Where it puts a function that looks again, for answers that take hours."""
SCOPE_OPERATOR = "toolcrib.operator"
"""There when the request comes from this process, for whoever can open the database: they see
every call. No server sets it."""
LARGEST_ID = 2**63 - 1
NO_CONTENT: dict[str, Any] = {"status_code": 204, "response_class": Response}
"""How a route is declared that answers with nothing."""
_ETAG = re.compile(r'(?:W/)?"(\d{1,18})"|(\d{1,18})')


async def the_caller(request: Request) -> Caller:
    return request.scope[SCOPE_CALLER]


async def from_operator(request: Request) -> bool:
    return bool(request.scope.get(SCOPE_OPERATOR))


async def the_platform(request: Request) -> Platform:
    """Raises Refusal while the platform opens or closes."""
    platform = getattr(request.app.state, "platform", None)
    if platform is None:
        raise Refusal(503, "The server is starting.", hint="Try again in a moment.")
    return platform


async def the_desk(platform: Annotated[Platform, Depends(the_platform)]) -> Desk:
    return platform.desk


async def expected_version(
    if_match: Annotated[
        str | None,
        Header(alias="If-Match", description="The version that the change is meant for."),
    ] = None,
) -> int | None:
    """The version of `If-Match: "3"`; None for `*` and without the header."""
    if if_match is None or if_match.strip() == "*":
        return None
    match = _ETAG.fullmatch(if_match.strip())
    if match is None:
        raise InvalidRequest(
            "If-Match names no version.", where="If-Match", hint='Send it as in If-Match: "3".'
        )
    return int(match[1] or match[2])


def versioned(response: Response, version: int) -> None:
    """Show the row's version as its ETag."""
    response.headers["ETag"] = f'"{version}"'


def router(noun: str, prefix: str) -> APIRouter:
    """Routes of one noun: strict bodies, problems as documented answers, readable ids."""

    def operation(route: APIRoute) -> str:
        return f"{noun}_{route.name}"

    responses: dict[int | str, dict[str, Any]] = {**RESPONSES}
    return APIRouter(
        prefix=prefix,
        tags=[noun],
        route_class=StrictRoute,
        responses=responses,
        generate_unique_id_function=operation,
    )


TheCaller = Annotated[Caller, Depends(the_caller)]
ThePlatform = Annotated[Platform, Depends(the_platform)]
TheDesk = Annotated[Desk, Depends(the_desk)]
FromOperator = Annotated[bool, Depends(from_operator)]
Version = Annotated[int | None, Depends(expected_version)]
Id = Annotated[int, Path(ge=1, le=LARGEST_ID)]
