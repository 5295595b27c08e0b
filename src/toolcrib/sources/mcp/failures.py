"""This module words what ended a conversation, or one call of it, as errors of ours."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import cast

import httpx2
import mcp_types as types
from mcp.shared.exceptions import MCPError

from toolcrib.errors import (
    EgressBlocked,
    SourceError,
    SourceProtocolError,
    SourceTimeout,
    SourceUnreachable,
    ToolcribError,
)
from toolcrib.sources.mcp.conversation import HeadersRefused, Refused, SessionLost
from toolcrib.sources.mcp.faults import CODE, Fault, lost_session, read_fault
from toolcrib.sources.mcp.refusals import tells_of_lost_session

_GONE = ("Connection closed", "SSE stream")
"""How the library words it; a server's own errors may have the same code."""
_UNREAD = ("Failed to parse JSON response", "Failed to parse SSE message")
"""The library goes on with pieces of the answer: a piece of a secret is one that nobody masks."""
_LATE = re.compile(r"Request '[^']*' timed out")
"""How the library words it; a server's own errors may have that code, too."""


def translated(error: BaseException) -> ToolcribError:
    """Ours for whatever ended a conversation: the most telling of a group."""
    found = list(_leaves(error))
    for one in found:
        if isinstance(one, ToolcribError):
            return one
    for one in found:
        if isinstance(one, MCPError):
            return refused(one)
        if isinstance(one, httpx2.TransportError | httpx2.InvalidURL):
            return SourceUnreachable(f"The server could not be reached: {one}.", sent=None)
    kind = type(found[0]).__name__ if found else type(error).__name__
    return SourceProtocolError(f"The conversation broke ({kind}).", sent=None)


def refused(error: MCPError, *, has_status: bool = True) -> SourceError:
    """Ours for a JSON-RPC error, be it the server's or one that stands for a failure below.

    Without `has_status` answers come through a channel that has none, of a session: there words
    alone say that the session is lost.
    """
    fault = read_fault(error.data)
    if fault is not None:
        return of_fault(error.message, fault)
    if not has_status and tells_of_lost_session(error.code, error.message):
        return of_fault(*lost_session())
    return of_server(error)


def of_fault(message: str, fault: Fault) -> SourceError:
    """Ours for a failure below JSON-RPC."""
    if fault.means == "session":
        return SessionLost(message, sent=False)
    if fault.means == "headers":
        return HeadersRefused(message, sent=False)
    if fault.means == "another":
        return SourceProtocolError(message, sent=True)
    if fault.code == "unreachable":
        return SourceUnreachable(message, sent=fault.sent)
    if fault.code == "timeout":
        return SourceTimeout(message, sent=fault.sent)
    if fault.code == "blocked":
        return EgressBlocked(message, sent=False)
    return Refused(message, rpc_code=CODE, code=fault.code, status=fault.status)


def of_server(error: MCPError) -> SourceError:
    """Ours for what a server answered, or the library for it."""
    words = error.message or f"error {error.code}"
    if error.code == types.REQUEST_TIMEOUT and _LATE.fullmatch(words):
        return SourceTimeout("The server did not answer in time.", sent=True)
    if error.code == types.CONNECTION_CLOSED and words.startswith(_GONE):
        return SourceUnreachable("The server ended the connection.", sent=True)
    if error.code == types.PARSE_ERROR and words.startswith(_UNREAD):
        return Refused("The server's answer is no message of the protocol.", rpc_code=error.code)
    return Refused(words, rpc_code=error.code)


def _leaves(error: BaseException) -> Iterator[BaseException]:
    if not isinstance(error, BaseExceptionGroup):
        yield error
        return
    for one in cast("BaseExceptionGroup[BaseException]", error).exceptions:
        yield from _leaves(one)
