"""This module judges answers over HTTP that are refusals, and answers failed POSTs itself.

What a status says is known here alone: whether the session is lost, or other headers are wanted, so
that a call was surely not made and may be sent again.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final, cast

import httpx2
import mcp_types as types
import orjson
from mcp.shared.inbound import MCP_PROTOCOL_VERSION_HEADER
from mcp_types.version import MODERN_PROTOCOL_VERSIONS

from toolcrib.errors import ToolcribError
from toolcrib.net.streaming import EVENTS
from toolcrib.sources.mcp.faults import CODE, Fault, lost_session, sealed, told
from toolcrib.tools.result import ErrorCode

_SESSION_NAME: Final = "mcp-session-id"
_SESSION_CODES = (types.INVALID_REQUEST, -32000, -32001)
_SESSION: Final = re.compile(
    r"((bad request|not found|unauthorized): )?"
    r"(session (id )?(was |is |has been )?(not found|terminated|expired|unknown|invalid|missing)"
    r"(: \S+)?"
    r"|(missing|no|no valid|invalid|invalid or expired|unknown|expired|mcp-session-id header is"
    r" required:?) session( id)?( provided| header)?"
    r"|mcp-session-id header is required"
    r"|(server|session) not initialized"
    r"|received request before initialization was complete)\.?",
    re.IGNORECASE,
)
"""Whole messages with which servers say that they know no session, and say nothing else."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Asked:
    """A request, as far as the answer's meaning depends on it. `session`: it named one."""

    number: object
    session: bool
    modern: bool


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
        status = response.status_code
        if request.method != "POST":
            return response
        if response.headers.get("Content-Type", "").lower().startswith(EVENTS):
            if status != 404 or not (await _asked(request)).session:
                return response
            await response.aclose()
            return _answer(status, *lost_session())
        body = await _read(response)
        refused = refusal(status, body, await _asked(request)) if status >= 400 else None
        if refused is not None:
            return _answer(status, *refused)
        return httpx2.Response(status, headers=response.headers, content=body)


async def _asked(request: httpx2.Request) -> Asked:
    message = orjson.loads(await request.aread())
    modern = request.headers.get(MCP_PROTOCOL_VERSION_HEADER) in MODERN_PROTOCOL_VERSIONS
    return Asked(
        number=message.get("id"),
        session=_SESSION_NAME in request.headers and not modern,
        modern=modern,
    )


def refusal(status: int, body: bytes, asked: Asked) -> tuple[str, Fault] | None:
    """A sentence, and the fault, for a refusal in HTTP alone, or for one that came before anything
    was done; None for what the server says in words of the protocol.

    404 has a meaning of its own in this protocol, with and without a body.
    """
    if status < 400:
        return None
    error = _error_in(body, asked.number)
    if error is not None:
        return _undone(status, error, asked)
    if status == 404:
        return lost_session() if asked.session else None
    code: ErrorCode = "not_granted" if status in {401, 403} else "upstream_error"
    fault = Fault(code=code, sent=True, status=status)
    return f"The server answered HTTP {status}.", fault


def tells_of_lost_session(code: object, words: object) -> bool:
    """Whether an error says this and nothing else; where and when it counts is not known here."""
    return (
        code in _SESSION_CODES
        and isinstance(words, str)
        and _SESSION.fullmatch(words.strip()) is not None
    )


def is_number_of(number: object, given: object) -> bool:
    """Whether an id is this number: servers may make text of it."""
    return given == str(number) or (given == number and not isinstance(given, bool))


def _undone(status: int, error: Mapping[str, Any], asked: Asked) -> tuple[str, Fault] | None:
    code, words = error.get("code"), error.get("message")
    if asked.modern and code == types.HEADER_MISMATCH:
        fault = Fault(code="upstream_error", sent=False, means="headers")
        return f"The server refused the headers: {words}", fault
    by_status = status == 404 and code in _SESSION_CODES
    if asked.session and (by_status or tells_of_lost_session(code, words)):
        return lost_session()
    return None


async def _read(response: httpx2.Response) -> bytes:
    try:
        return await response.aread()
    finally:
        await response.aclose()


def _error_in(body: bytes, number: object) -> Mapping[str, Any] | None:
    """The error of the protocol that a body holds, unless it answers another request."""
    try:
        value: object = orjson.loads(body)
    except orjson.JSONDecodeError:
        return None
    if not isinstance(value, dict):
        return None
    told = cast("Mapping[str, Any]", value)
    ours = told.get("id") is None or is_number_of(number, told["id"])
    if not ours or "error" not in told or "jsonrpc" not in told:
        return None
    error = told["error"]
    return cast("Mapping[str, Any]", error) if isinstance(error, dict) else {}


def _answer(status: int, message: str, fault: Fault) -> httpx2.Response:
    error = {"code": CODE, "message": message, "data": sealed(fault)}
    body = orjson.dumps({"jsonrpc": "2.0", "id": None, "error": error})
    return httpx2.Response(status, headers={"Content-Type": "application/json"}, content=body)
