"""This module carries what went wrong on one POST to the one call that sent it.

The protocol library ends a whole connection, with every call on it, when one request fails below
HTTP. So a failure becomes an answer: a JSON-RPC error whose `data` says what happened and whether
the request may have arrived. `read_fault` reads it again on the other side.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final, cast

import httpx2
import orjson

from toolcrib.errors import (
    AccessError,
    EgressBlocked,
    InvalidRequest,
    NotGranted,
    SourceError,
    ToolcribError,
)
from toolcrib.net.streaming import BODY_LIMIT, EVENTS, BodyTooLarge
from toolcrib.tools.result import ERROR_CODES, ErrorCode

_KEY: Final = "toolcrib"
CODE: Final = -32099
"""Of an error that stands for a failure below JSON-RPC."""
_NOT_SENT = (httpx2.ConnectError, httpx2.ConnectTimeout, httpx2.PoolTimeout)


@dataclass(frozen=True, kw_only=True, slots=True)
class Fault:
    """`sent`: the request may have arrived. `status`: the server's own refusal, in HTTP."""

    code: ErrorCode
    sent: bool
    status: int | None = None


def read_fault(data: object) -> Fault | None:
    """The fault inside a JSON-RPC error's data; None for an error of the server itself."""
    found = cast("Mapping[str, Any]", data).get(_KEY) if isinstance(data, Mapping) else None
    if not isinstance(found, Mapping):
        return None
    data_of = cast("Mapping[str, Any]", found)
    return Fault(
        code=_known(data_of.get("code")),
        sent=data_of.get("sent") is not False,
        status=data_of.get("status"),
    )


def _known(code: object) -> ErrorCode:
    return cast("ErrorCode", code) if code in ERROR_CODES else "upstream_error"


class FaultAnswers(httpx2.AsyncBaseTransport):
    """Another transport, whose failed POSTs are answered instead of raised.

    JSON is read whole before it is handed on, so that a body that breaks off is answered too.
    """

    def __init__(self, inner: httpx2.AsyncBaseTransport) -> None:
        self._inner = inner

    async def handle_async_request(self, request: httpx2.Request) -> httpx2.Response:
        try:
            return await self._answered(request)
        except (httpx2.TransportError, ToolcribError) as error:
            if request.method != "POST":
                raise httpx2.ConnectError(str(error)) from None
            return _answer(502, *told(error))

    async def aclose(self) -> None:
        await self._inner.aclose()

    async def _answered(self, request: httpx2.Request) -> httpx2.Response:
        response = await self._inner.handle_async_request(request)
        kind = response.headers.get("Content-Type", "").lower()
        if request.method != "POST" or kind.startswith(EVENTS):
            return response
        body = await _read(response)
        refused = refusal(response.status_code, body)
        if refused is not None:
            return _answer(response.status_code, *refused)
        return httpx2.Response(response.status_code, headers=response.headers, content=body)


def refusal(status: int, body: bytes) -> tuple[str, Fault] | None:
    """A sentence, and the fault, for a refusal in HTTP alone; None for what the protocol words.

    404 has a meaning of its own in this protocol, with and without a body.
    """
    if status < 400 or status == 404 or _is_error(body):
        return None
    code: ErrorCode = "not_granted" if status in {401, 403} else "upstream_error"
    fault = Fault(code=code, sent=True, status=status)
    return f"The server answered HTTP {status}.", fault


async def _read(response: httpx2.Response) -> bytes:
    try:
        return await response.aread()
    finally:
        await response.aclose()


def _is_error(body: bytes) -> bool:
    try:
        value: object = orjson.loads(body)
    except orjson.JSONDecodeError:
        return False
    return isinstance(value, dict) and "error" in value and "jsonrpc" in value


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


def _answer(status: int, message: str, fault: Fault) -> httpx2.Response:
    data = {"code": fault.code, "sent": fault.sent, "status": fault.status}
    error = {"code": CODE, "message": message, "data": {_KEY: data}}
    body = orjson.dumps({"jsonrpc": "2.0", "id": None, "error": error})
    return httpx2.Response(status, headers={"Content-Type": "application/json"}, content=body)
