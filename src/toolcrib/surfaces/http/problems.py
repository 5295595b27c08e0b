"""This module answers errors: one table from classes to status numbers, one form (RFC 9457)."""

from __future__ import annotations

import secrets
from collections.abc import Mapping
from http import HTTPStatus
from traceback import format_exception
from typing import Any

import structlog
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import Response

from toolcrib import errors
from toolcrib.errors import Conflict, ToolcribError
from toolcrib.surfaces.http.shapes.current import row_of
from toolcrib.surfaces.http.writing import dumps

_log = structlog.get_logger(__name__)

STATUS: Mapping[type[ToolcribError], int] = {
    errors.ToolcribError: 500,
    errors.SetupError: 503,
    errors.InvalidSettings: 500,
    errors.MissingExtra: 501,
    errors.PluginBroken: 500,
    errors.NoSpace: 507,
    errors.SchemaOutdated: 503,
    errors.DefinitionError: 422,
    errors.InvalidOptions: 422,
    errors.InvalidToolSchema: 422,
    errors.DuplicateName: 409,
    errors.RequestError: 422,
    errors.InvalidRequest: 422,
    errors.GroupRequired: 422,
    errors.AccessError: 403,
    errors.NotAuthenticated: 401,
    errors.NotGranted: 403,
    errors.SecretMissing: 422,
    errors.UnresolvedPlaceholderError: 422,
    errors.SecretUndecryptable: 422,
    errors.NotFound: 404,
    errors.Conflict: 409,
    errors.SourceError: 502,
    errors.SourceUnreachable: 502,
    errors.SourceTimeout: 504,
    errors.SourceProtocolError: 502,
    errors.EgressBlocked: 422,
    errors.CallError: 502,
    errors.InvalidArguments: 422,
    errors.CallRefused: 403,
    errors.CallTimeout: 504,
    errors.CallFailed: 502,
    errors.OutcomeUnknown: 502,
}
"""Every class of `toolcrib.errors`; a test holds the table to that."""

_OPERATORS = frozenset({500, 503})
"""What only the operator can act on is written to the log, not to the caller."""

_CODES: Mapping[int, str] = {
    400: "bad_request",
    404: "not_found",
    405: "method_not_allowed",
    413: "too_large",
    415: "unsupported_media_type",
    421: "wrong_host",
    503: "not_ready",
}


class Refusal(HTTPException):
    """A request that HTTP itself is refused for: its body, its host, its moment."""

    def __init__(
        self,
        status: int,
        detail: str,
        *,
        code: str | None = None,
        where: str | None = None,
        hint: str | None = None,
    ) -> None:
        super().__init__(status, detail)
        self.code = code or _CODES.get(status, "bad_request")
        self.where = where
        self.hint = hint


def problem(
    status: int,
    detail: str,
    *,
    code: str,
    title: str | None = None,
    where: str | None = None,
    hint: str | None = None,
    current: Any = None,
    headers: Mapping[str, str] | None = None,
) -> Response:
    """One `application/problem+json` answer; what is None is left out."""
    optional = {"where": where, "hint": hint, "current": current}
    body = {
        "type": f"urn:toolcrib:problem:{code}",
        "title": title or HTTPStatus(status).phrase,
        "status": status,
        "detail": detail,
        "code": code,
        **{name: value for name, value in optional.items() if value is not None},
    }
    return Response(dumps(body), status, headers=headers, media_type="application/problem+json")


def of_error(error: ToolcribError) -> Response:
    """One of our errors, by the table; a class that is not in it answers like its parent."""
    status = next(STATUS[kind] for kind in type(error).__mro__ if kind in STATUS)
    if status == HTTPStatus.INSUFFICIENT_STORAGE:  # the caller's loss, and the operator's to mend
        _log.error("no room left", error=error.message)
    if status in _OPERATORS:
        return unexpected(error, status=status, code=error.code)
    return problem(
        status,
        error.message,
        code=error.code,
        title=(type(error).__doc__ or "").strip().splitlines()[0].rstrip("."),
        where=error.where,
        hint=error.hint,
        current=row_of(error.current) if isinstance(error, Conflict) else None,
        headers={"WWW-Authenticate": "Bearer"} if status == 401 else None,
    )


def unexpected(error: BaseException, *, status: int = 500, code: str = "internal") -> Response:
    """No details for the caller: an id, under which the operator finds them in the log."""
    incident = secrets.token_hex(6)
    # The trace as text: a renderer that shows local variables would show secrets.
    _log.error("request failed", incident=incident, trace="".join(format_exception(error)))
    return problem(
        status,
        f"This failed for a reason that only the operator can see, in the log under {incident}.",
        code=code,
    )


async def on_error(request: Request, error: Exception) -> Response:
    assert isinstance(error, ToolcribError)  # noqa: S101 - registered for these only
    return of_error(error)


async def on_refusal(request: Request, error: Exception) -> Response:
    """HTTP's own refusals: unknown paths, wrong methods, bodies that cannot be read."""
    assert isinstance(error, HTTPException)  # noqa: S101 - registered for these only
    if isinstance(error, Refusal):
        return problem(
            error.status_code, error.detail, code=error.code, where=error.where, hint=error.hint
        )
    status = error.status_code
    detail = {
        404: f"There is nothing at {request.url.path}.",
        405: f"{request.method} is not a method of {request.url.path}.",
    }.get(status, error.detail)
    return problem(status, detail, code=_CODES.get(status, "bad_request"), headers=error.headers)
