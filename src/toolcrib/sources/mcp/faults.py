"""This module says what went wrong on one POST, so that it reaches the one call that sent it.

The protocol library ends a whole connection, with every call on it, when one request fails below
HTTP. So a failure becomes an answer: a JSON-RPC error whose `data` says what happened and whether
the request may have arrived. `read_fault` reads it again on the other side.
"""

from __future__ import annotations

import secrets
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final, Literal, cast

import httpx2

from toolcrib.errors import (
    AccessError,
    EgressBlocked,
    InvalidRequest,
    NotGranted,
    SourceError,
)
from toolcrib.net.streaming import BODY_LIMIT, BodyTooLarge
from toolcrib.tools.result import ERROR_CODES, ErrorCode

_KEY: Final = "toolcrib"
_SEAL: Final = secrets.token_hex(16)
"""Stands in each fault of this process, and nobody else knows it: no server can make one up."""
CODE: Final = -32099
"""Of an error that stands for a failure below JSON-RPC."""
_NOT_SENT = (httpx2.ConnectError, httpx2.ConnectTimeout, httpx2.PoolTimeout)
Meaning = Literal["session", "headers", "another"]


@dataclass(frozen=True, kw_only=True, slots=True)
class Fault:
    """`sent`: the request may have arrived. `status`: the server's own refusal, in HTTP.

    `means`: the session is lost, other headers are wanted, or another request was answered.
    """

    code: ErrorCode
    sent: bool
    status: int | None = None
    means: Meaning | None = None


def read_fault(data: object) -> Fault | None:
    """The fault inside a JSON-RPC error's data; None for an error of the server itself."""
    found = cast("Mapping[str, Any]", data).get(_KEY) if isinstance(data, Mapping) else None
    if not isinstance(found, Mapping):
        return None
    data_of = cast("Mapping[str, Any]", found)
    if data_of.get("seal") != _SEAL:
        return None
    return Fault(
        code=_known(data_of.get("code")),
        sent=data_of.get("sent") is not False,
        status=data_of.get("status"),
        means=data_of.get("means"),
    )


def _known(code: object) -> ErrorCode:
    return cast("ErrorCode", code) if code in ERROR_CODES else "upstream_error"


def lost_session() -> tuple[str, Fault]:
    fault = Fault(code="upstream_error", sent=False, means="session")
    return "The server does not know the session any more.", fault


def another_answered() -> tuple[str, Fault]:
    fault = Fault(code="upstream_error", sent=True, means="another")
    return "The server answered another request.", fault


def told(error: Exception) -> tuple[str, Fault]:
    """A sentence, and the fault, for what a request ended with below HTTP."""
    match error:
        case EgressBlocked():
            return str(error), Fault(code="blocked", sent=False)
        case AccessError():  # where it is the server's own refusal, it was asked and did nothing
            refused = isinstance(error, NotGranted)
            code = "not_granted" if refused else "secret_missing"
            return str(error), Fault(code=code, sent=refused)
        case SourceError():  # a token could not be renewed, so nothing was asked with it
            return str(error), Fault(code=_known(error.code), sent=False)
        case InvalidRequest():
            return str(error), Fault(code="upstream_error", sent=False)
        case BodyTooLarge():
            return f"The answer is larger than {BODY_LIMIT} bytes.", Fault(
                code="too_large", sent=True
            )
        case httpx2.TimeoutException():
            sent = not isinstance(error, _NOT_SENT)
            return "The server did not answer in time.", Fault(code="timeout", sent=sent)
        case _ if isinstance(error, _NOT_SENT):
            return f"The server could not be reached: {_words(error)}.", Fault(
                code="unreachable", sent=False
            )
        case _:
            return f"The connection broke: {_words(error)}.", Fault(code="unreachable", sent=True)


def _words(error: Exception) -> str:
    text = str(error).strip().rstrip(".")
    return text or type(error).__name__


def sealed(fault: Fault) -> Mapping[str, Any]:
    """The fault as the data of an error, for `read_fault`."""
    told = {"code": fault.code, "sent": fault.sent, "status": fault.status, "means": fault.means}
    return {_KEY: {**told, "seal": _SEAL}}
