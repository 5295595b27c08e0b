"""This module says with which number a command ends for each error, and how a problem that REST
answered becomes that error again."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from toolcrib import errors
from toolcrib.errors import ToolcribError

OK = 0
INTERNAL = 1
USAGE = 2
NOT_FOUND = 3
REFUSED = 4
CONFLICT = 5
DEFINITION = 6
SETUP = 7
UPSTREAM = 8
INTERRUPTED = 130
PIPE_CLOSED = 141

EXITS: dict[type[ToolcribError], int] = {
    errors.ToolcribError: INTERNAL,
    errors.SetupError: SETUP,
    errors.InvalidSettings: SETUP,
    errors.MissingExtra: SETUP,
    errors.PluginBroken: SETUP,
    errors.NoSpace: SETUP,
    errors.SchemaOutdated: SETUP,
    errors.DefinitionError: DEFINITION,
    errors.InvalidOptions: DEFINITION,
    errors.InvalidToolSchema: DEFINITION,
    errors.DuplicateName: DEFINITION,
    errors.RequestError: USAGE,
    errors.InvalidRequest: USAGE,
    errors.GroupRequired: USAGE,
    errors.AccessError: REFUSED,
    errors.NotAuthenticated: REFUSED,
    errors.NotGranted: REFUSED,
    errors.SecretMissing: REFUSED,
    errors.UnresolvedPlaceholderError: REFUSED,
    errors.SecretUndecryptable: REFUSED,
    errors.NotFound: NOT_FOUND,
    errors.Conflict: CONFLICT,
    errors.SourceError: UPSTREAM,
    errors.SourceUnreachable: UPSTREAM,
    errors.SourceTimeout: UPSTREAM,
    errors.SourceProtocolError: UPSTREAM,
    errors.EgressBlocked: UPSTREAM,
    errors.CallError: UPSTREAM,
    errors.InvalidArguments: USAGE,
    errors.CallRefused: REFUSED,
    errors.CallTimeout: UPSTREAM,
    errors.CallFailed: UPSTREAM,
    errors.OutcomeUnknown: UPSTREAM,
}
"""Every class has its own line: a new one must be decided about, a test says so."""

MEANINGS = {
    OK: "done",
    INTERNAL: "a mistake in Toolcrib",
    USAGE: "the command or a value in it cannot be used",
    NOT_FOUND: "there is no such thing, or none within reach",
    REFUSED: "not allowed, or a secret is missing",
    CONFLICT: "the present state does not allow it",
    DEFINITION: "a definition is wrong",
    SETUP: "the installation must be set up or mended, or a check found something wrong",
    UPSTREAM: "a call or an upstream failed",
    INTERRUPTED: "stopped with Ctrl-C",
    PIPE_CLOSED: "whoever read the output stopped reading",
}

_BY_CODE: dict[str, type[ToolcribError]] = {}
for _class in EXITS:
    _BY_CODE.setdefault(_class.code, _class)

_BY_STATUS: dict[int, type[ToolcribError]] = {
    400: errors.InvalidRequest,
    401: errors.NotAuthenticated,
    403: errors.NotGranted,
    404: errors.NotFound,
    409: errors.Conflict,
    413: errors.InvalidRequest,
    415: errors.InvalidRequest,
    421: errors.InvalidRequest,
    422: errors.InvalidRequest,
    502: errors.SourceError,
    503: errors.SetupError,
    504: errors.SourceTimeout,
}


def exit_of(error: type[ToolcribError]) -> int:
    """The exit code of an error class; a class from elsewhere counts as its nearest of ours."""
    return next(EXITS[one] for one in error.__mro__ if one in EXITS)


def exit_of_code(code: str | None) -> int:
    """The exit code of an `error.code`, for a call whose result is a failure."""
    return exit_of(_BY_CODE.get(code or "", errors.CallFailed))


def error_of(status: int, problem: Mapping[str, Any]) -> ToolcribError:
    """The error that a problem document (RFC 9457) was made of."""
    kind = _BY_CODE.get(str(problem.get("code"))) or _BY_STATUS.get(status, ToolcribError)
    detail = problem.get("detail") or problem.get("title") or f"The server answered {status}."
    return kind(str(detail), hint=problem.get("hint"), where=problem.get("where"))
