"""This module reads messages of the protocol: the usual ones quickly, all others as the protocol
library reads them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final, cast

import mcp_types as types
from mcp.shared.exceptions import MCPError
from pydantic_core import from_json

from toolcrib.sources.mcp.failures import of_server
from toolcrib.sources.mcp.mending import messages_of
from toolcrib.sources.mcp.pacing import finite
from toolcrib.sources.mcp.weighing import TooMuch, weighed

_ANSWERS: Final = (types.JSONRPCResponse, types.JSONRPCError)
_LEVELS: Final = frozenset(
    ("debug", "info", "notice", "warning", "error", "critical", "alert", "emergency")
)


@dataclass(frozen=True, slots=True)
class Result:
    """A call's result, as it came, and the id of what it answers."""

    number: object
    result: dict[str, Any]


@dataclass(frozen=True, slots=True)
class Error:
    """What the server's error means, and the id of what it answers; None: it could not read it."""

    number: object
    means: Exception


@dataclass(frozen=True, slots=True)
class Progress:
    """How far the request with this token is."""

    token: object
    done: float
    total: float | None
    message: str | None


@dataclass(frozen=True, slots=True)
class Line:
    """A log line."""

    level: str
    data: Any
    logger: str | None


def message_of(data: bytes) -> Result | Error | Progress | Line | types.JSONRPCMessage:
    """Raises Refused for what is no message, and for one that holds too much."""
    try:
        given: object = from_json(weighed(data))
    except TooMuch as error:
        raise failure(types.INTERNAL_ERROR, str(error)) from None
    except ValueError:
        given = None
    if isinstance(given, dict):
        found = _usual(cast("dict[str, Any]", given))
        if found is not None:
            return found
    return _as_the_library(data)


def error_of(data: bytes) -> types.ErrorData | None:
    """The error that a body holds, if that is what it holds."""
    try:
        message = types.jsonrpc_message_adapter.validate_json(data, by_name=False)
    except ValueError:
        return None
    return message.error if isinstance(message, types.JSONRPCError) else None


def failure(code: int, message: str, data: Any = None) -> Exception:
    """What is to be raised for a JSON-RPC error."""
    return of_server(MCPError(code=code, message=message, data=data))


def _as_the_library(data: bytes) -> Result | Error | types.JSONRPCMessage:
    try:
        found = messages_of(data)
    except TooMuch as error:
        raise failure(types.INTERNAL_ERROR, str(error)) from None
    if not found:
        raise failure(types.PARSE_ERROR, "Failed to parse JSON response")
    message = next((one for one in found if isinstance(one, _ANSWERS)), found[0])
    if isinstance(message, types.JSONRPCError):
        error = message.error
        return Error(message.id, failure(error.code, error.message, error.data))
    if isinstance(message, types.JSONRPCResponse):
        return Result(message.id, message.result)
    return message


def _usual(given: Mapping[str, Any]) -> Result | Progress | Line | None:
    if given.get("jsonrpc") != "2.0" or "error" in given:
        return None
    number, result, method = given.get("id"), given.get("result"), given.get("method")
    if method is None:
        usual = isinstance(result, dict) and type(number) in {int, str} and "params" not in given
        return Result(number, cast("dict[str, Any]", result)) if usual else None
    params = given.get("params")
    if "id" in given or "result" in given or not isinstance(params, dict):
        return None
    told = cast("dict[str, Any]", params)
    if method == "notifications/progress":
        return _progress(told)
    return _line(told) if method == "notifications/message" else None


def _progress(params: Mapping[str, Any]) -> Progress:
    token, done = params.get("progressToken"), finite(params.get("progress"))
    if type(token) not in {int, str} or done is None:
        return Progress(None, 0.0, None, None)  # of no request
    message = params.get("message")
    told = message if isinstance(message, str) else None
    return Progress(token, done, finite(params.get("total")), told)


def _line(params: Mapping[str, Any]) -> Line | None:
    level, logger = params.get("level"), params.get("logger")
    if level not in _LEVELS or "data" not in params or not isinstance(logger, str | None):
        return None
    return Line(level, params["data"], logger)
