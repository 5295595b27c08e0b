"""This module sends one request and puts what went wrong into the words of the product."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Protocol

from toolcrib.errors import (
    EgressBlocked,
    InvalidArguments,
    SourceError,
    SourceUnreachable,
    ToolcribError,
)
from toolcrib.net.guard import Verdict
from toolcrib.net.response import Response
from toolcrib.secrets.places import OPEN, HiddenHost
from toolcrib.sources.http.operation import Request
from toolcrib.sources.http.results import READ_LIMIT
from toolcrib.tools.call import Exchange
from toolcrib.tools.result import ERROR_CODES, ErrorCode, Output

_SAFE = frozenset({"GET", "HEAD"})


class Sender(Protocol):
    """The way out: `net.client.GuardedClient`."""

    async def request(
        self,
        method: str,
        url: str,
        *,
        headers: list[tuple[str, str]],
        body: bytes | None,
        timeout: float,  # noqa: ASYNC109 - the client's own deadline
        limit: int,
        credentials: bool,
        on_sent: Callable[[], None],
    ) -> Response: ...

    async def verdict(self, url: str) -> Verdict: ...

    def refusal(self, url: str) -> str | None: ...


async def send(sender: Sender, request: Request, exchange: Exchange, *, seconds: float) -> Response:
    """The answer within so many seconds; what happens stands in `exchange`. Raises SourceError.

    A request that changes nothing is sent once more where the first try surely sent nothing.
    """
    ends = time.monotonic() + seconds
    left = seconds
    while True:
        try:
            response = await sender.request(
                request.method,
                request.url,
                headers=request.headers,
                body=request.body,
                timeout=left,
                limit=READ_LIMIT,
                credentials=True,
                on_sent=exchange.mark_sent,
            )
        except SourceUnreachable as error:
            again = left == seconds and error.sent is False and request.method in _SAFE
            left = ends - time.monotonic()
            if not again or left <= 0:
                raise _seen(error, exchange) from None
        except EgressBlocked:
            raise
        except SourceError as error:
            raise _seen(error, exchange) from None
        else:
            exchange.answered = True
            exchange.failing = response.status >= 500
            return response


def _seen(error: SourceError, exchange: Exchange) -> SourceError:
    exchange.failing = True
    exchange.sent = exchange.sent or error.sent is not False
    exchange.unreached = not exchange.sent
    return error


def failed_by(error: ToolcribError, host: HiddenHost = OPEN) -> Output:
    """The published sentences: `API request blocked: …`, `API request failed: …`."""
    words = host.text(str(error))
    if isinstance(error, EgressBlocked):
        return Output.failed("blocked", f"API request blocked: {words}")
    if isinstance(error, InvalidArguments):
        return Output.failed("invalid_arguments", words)
    code: ErrorCode = "upstream_error" if isinstance(error, SourceError) else "tool_error"
    if error.code in ERROR_CODES:
        code = error.code  # type: ignore[assignment]
    return Output.failed(code, f"API request failed: {words}")
