"""This module is the one table from what an HTTP client or the system raises to our errors.

Messages name the place (`host:port`) and the cause, never a header, a query or a user name: they
reach models, logs and journals.
"""

from __future__ import annotations

import os
from collections.abc import Callable

import aiohttp

from toolcrib.errors import (
    SourceError,
    SourceProtocolError,
    SourceTimeout,
    SourceUnreachable,
)
from toolcrib.net.connections import ResendRefused, SpokeFirst

_Words = Callable[[BaseException], str]

_DROPPED = "closed the connection without an answer"


def _certificate(error: BaseException) -> str:
    cause = getattr(error, "certificate_error", None)
    why = getattr(cause, "verify_message", "") or "it does not verify"
    return f"has a certificate that was refused: {why}"


def _tls(error: BaseException) -> str:
    reason = getattr(getattr(error, "os_error", None), "reason", None) or "handshake failed"
    return f"could not be reached: TLS {str(reason).replace('_', ' ').lower()}"


def _no_connection(error: BaseException) -> str:
    cause = getattr(error, "os_error", error)
    return f"could not be reached: {_system_words(cause)}"


def _broken(error: BaseException) -> str:
    return f"broke the connection: {_system_words(error)}"


def _proxy_refused(error: BaseException) -> str:
    return f"was refused by the egress proxy (HTTP {getattr(error, 'status', 0)})"


def _system_words(error: BaseException) -> str:
    """The system's words for the error's number; other texts could hold addresses and URLs."""
    number = getattr(error, "errno", None)
    return os.strerror(number) if number else "the connection failed"


def _fixed(text: str) -> _Words:
    return lambda _: text


_TABLE: tuple[tuple[type[BaseException], type[SourceError], _Words], ...] = (
    (aiohttp.ClientConnectorCertificateError, SourceUnreachable, _certificate),
    (aiohttp.ClientConnectorSSLError, SourceUnreachable, _tls),
    (
        aiohttp.ClientProxyConnectionError,
        SourceUnreachable,
        _fixed("could not be reached: the egress proxy does not answer"),
    ),
    (aiohttp.ClientHttpProxyError, SourceUnreachable, _proxy_refused),
    (aiohttp.ConnectionTimeoutError, SourceTimeout, _fixed("did not accept a connection in time")),
    (aiohttp.ClientConnectorError, SourceUnreachable, _no_connection),
    (TimeoutError, SourceTimeout, _fixed("did not answer in time")),
    (ResendRefused, SourceProtocolError, _fixed(_DROPPED)),
    (SpokeFirst, SourceProtocolError, _fixed("did not wait for the request")),
    (aiohttp.ServerDisconnectedError, SourceProtocolError, _fixed(_DROPPED)),
    (
        aiohttp.ClientPayloadError,
        SourceProtocolError,
        _fixed("sent an answer that ended early, or whose length or encoding is wrong"),
    ),
    (
        aiohttp.ClientResponseError,
        SourceProtocolError,
        _fixed("sent an answer that is not valid HTTP"),
    ),
    (OSError, SourceUnreachable, _broken),
    (aiohttp.ClientConnectionError, SourceUnreachable, _fixed("lost the connection")),
    (aiohttp.ClientError, SourceProtocolError, _fixed("broke the HTTP protocol")),
)

FOREIGN = (aiohttp.ClientError, OSError)
"""What `translate` knows; TimeoutError is an OSError."""


def translate(error: BaseException, *, place: str, sent: bool) -> SourceError:
    """Our error for a foreign one, about the upstream at `place` (`host:port`)."""
    for foreign, ours, words in _TABLE:
        if isinstance(error, foreign):
            return ours(f"{place} {words(error)}.", sent=sent)
    raise TypeError(f"{type(error).__name__} is no failure of a connection")
