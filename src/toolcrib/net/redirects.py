"""This module says what a redirect asks for, and whether it may be followed.

Following is the caller's choice; the next URL is then judged like any other. What never happens: a
request with credentials at another origin, a step from https to http, a body that cannot be
repeated.
"""

from __future__ import annotations

from dataclasses import replace
from urllib.parse import urljoin

from multidict import CIMultiDict

from toolcrib.errors import EgressBlocked, SourceProtocolError
from toolcrib.net.outgoing import Outgoing
from toolcrib.net.response import Response
from toolcrib.net.urls import Destination

MAX_REDIRECTS = 5
_FOLLOWED = frozenset({301, 302, 303, 307, 308})
_OF_THE_BODY = ("Content-Type", "Content-Encoding", "Content-Language", "Content-Length")


def location(response: Response) -> str | None:
    """The absolute URL that the answer points to; None when it is no redirect."""
    if response.status not in _FOLLOWED:
        return None
    target = response.headers.get("Location")
    if target is None:
        return None
    try:
        return urljoin(response.url, target)
    except ValueError:
        raise SourceProtocolError("The redirect's URL cannot be read.", sent=True) from None


def step(request: Outgoing, status: int, *, here: Destination, there: Destination) -> Outgoing:
    """The request to send next. Raises EgressBlocked where it may not go."""
    if here.scheme == "https" and there.scheme != "https":
        raise EgressBlocked(
            f"{here.place} redirects from https to http; that is not followed.", sent=True
        )
    if request.credentials and here.origin != there.origin:
        raise EgressBlocked(
            f"{here.place} redirects to {there.place}; a request with credentials does not follow.",
            hint="Use the final URL in the definition, if it may have the credentials.",
            sent=True,
        )
    if _becomes_get(request.method, status):
        headers = CIMultiDict(request.headers)
        for name in _OF_THE_BODY:
            headers.popall(name, None)
        return replace(request, method="GET", headers=headers, body=None)
    if request.body is not None and not isinstance(request.body, bytes):
        raise SourceProtocolError(
            f"{here.place} redirects a streamed body; it cannot be sent again.", sent=True
        )
    return request


def _becomes_get(method: str, status: int) -> bool:
    if status == 303:
        return method != "HEAD"
    return status in {301, 302} and method == "POST"
