"""This module words our errors as the protocol's: one table from classes to JSON-RPC codes."""

from __future__ import annotations

import secrets
from collections.abc import Mapping
from traceback import format_exception
from typing import Any, Final

import structlog

from toolcrib import errors
from toolcrib.errors import ToolcribError

_log = structlog.get_logger(__name__)

INVALID_REQUEST: Final = -32600
INVALID_PARAMS: Final = -32602
INTERNAL: Final = -32603

CODES: Mapping[type[ToolcribError], int] = {
    errors.ToolcribError: INTERNAL,
    errors.SetupError: INTERNAL,
    errors.InvalidSettings: INTERNAL,
    errors.MissingExtra: INTERNAL,
    errors.PluginBroken: INTERNAL,
    errors.NoSpace: INTERNAL,
    errors.SchemaOutdated: INTERNAL,
    errors.DefinitionError: INTERNAL,
    errors.InvalidOptions: INTERNAL,
    errors.InvalidToolSchema: INTERNAL,
    errors.DuplicateName: INTERNAL,
    errors.RequestError: INVALID_PARAMS,
    errors.InvalidRequest: INVALID_PARAMS,
    errors.GroupRequired: INVALID_PARAMS,
    errors.AccessError: INVALID_REQUEST,
    errors.NotAuthenticated: INVALID_REQUEST,
    errors.NotGranted: INVALID_REQUEST,
    errors.SecretMissing: INVALID_REQUEST,
    errors.UnresolvedPlaceholderError: INVALID_REQUEST,
    errors.SecretUndecryptable: INVALID_REQUEST,
    errors.NotFound: INVALID_PARAMS,
    errors.Conflict: INTERNAL,
    errors.SourceError: INTERNAL,
    errors.SourceUnreachable: INTERNAL,
    errors.SourceTimeout: INTERNAL,
    errors.SourceProtocolError: INTERNAL,
    errors.EgressBlocked: INTERNAL,
    errors.CallError: INTERNAL,
    errors.InvalidArguments: INVALID_PARAMS,
    errors.CallRefused: INVALID_REQUEST,
    errors.CallTimeout: INTERNAL,
    errors.CallFailed: INTERNAL,
    errors.OutcomeUnknown: INTERNAL,
}
"""Every class of `toolcrib.errors`; a test holds the table to that."""
_OPERATORS = (errors.SetupError,)
"""What only the operator can act on is written to the log, not to the client."""


class RpcError(Exception):
    """A request that is answered with an error of the protocol."""

    def __init__(self, code: int, message: str, data: Mapping[str, Any] | None = None) -> None:
        super().__init__(message)
        self.code = code
        self.message = message
        self.data = data


def of_error(error: BaseException) -> RpcError:
    """The protocol's error for one of ours; anything else stays in the log under an id."""
    if not isinstance(error, ToolcribError) or isinstance(error, _OPERATORS):
        incident = secrets.token_hex(6)
        # The trace as text: a renderer that shows local variables would show secrets.
        trace = "".join(format_exception(error))
        _log.error("request failed", incident=incident, trace=trace)
        words = f"This failed for a reason that only the operator can see, under {incident}."
        return RpcError(INTERNAL, words, {"code": "internal"})
    code = next(CODES[kind] for kind in type(error).__mro__ if kind in CODES)
    told = {"code": error.code, "where": error.where, "hint": error.hint}
    data = {name: value for name, value in told.items() if value is not None}
    return RpcError(code, error.message, data)
