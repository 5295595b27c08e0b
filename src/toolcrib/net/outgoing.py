"""This module holds one request on its way out, checked before anything is connected."""

from __future__ import annotations

from collections.abc import AsyncIterable, AsyncIterator, Iterable, Mapping
from dataclasses import field

from multidict import CIMultiDict

from toolcrib.errors import InvalidRequest
from toolcrib.net import fields, trip
from toolcrib.tools.record import record

Headers = Mapping[str, str] | Iterable[tuple[str, str]]
Body = bytes | AsyncIterable[bytes]

AGENT = "toolcrib"
METHODS = frozenset({"GET", "HEAD", "OPTIONS", "POST", "PUT", "PATCH", "DELETE"})
_NO_TYPE = ("Content-Type",)
_ONE_WRITE = 512 * 1024
_SMALL = 64 * 1024
_PIECE = 64 * 1024


@record
class Outgoing:
    """`body` is bytes, or pieces of bytes with their `length` where it is known."""

    method: str
    headers: CIMultiDict[str] = field(repr=False)
    body: Body | None = field(repr=False)
    credentials: bool

    @property
    def small(self) -> bool:
        """Whether a socket takes the body at once, so that nothing has to wait for it."""
        return self.body is None or (isinstance(self.body, bytes) and len(self.body) <= _SMALL)

    @property
    def payload(self) -> Body | None:
        """The body as the HTTP client takes it: a large one in pieces, so that no write blocks."""
        if self.body is None or (isinstance(self.body, bytes) and len(self.body) <= _ONE_WRITE):
            return self.body
        return _pieces(self.body) if isinstance(self.body, bytes) else _watched(self.body)

    @property
    def unwanted(self) -> tuple[str, ...] | None:
        """Headers that the HTTP client must not add: no type for a body that is not there."""
        return _NO_TYPE if self.body is None and self.method not in trip.SAFE_METHODS else None


def outgoing(
    method: str,
    headers: Headers | None,
    body: Body | None,
    *,
    length: int | None,
    credentials: bool,
) -> Outgoing:
    """Raises InvalidRequest for a method or header that cannot be sent; values stay unsaid."""
    if method not in METHODS:
        raise InvalidRequest(
            f"The method {method!r} cannot be sent.",
            where="method",
            hint=f"Use one of {', '.join(sorted(METHODS))}.",
        )
    found = CIMultiDict(headers or ())
    for name, value in found.items():
        _check(name, value)
    if "User-Agent" not in found:
        found["User-Agent"] = AGENT
    if isinstance(body, bytes) and len(body) > _ONE_WRITE:
        length = len(body)
    if length is not None and body is not None:
        found["Content-Length"] = str(length)
    return Outgoing(
        method=method,
        headers=found,
        body=body,
        credentials=credentials or "Authorization" in found or "Cookie" in found,
    )


def _check(name: str, value: str) -> None:
    """Raises InvalidRequest; the value stays unsaid."""
    if not fields.is_name(name):
        raise InvalidRequest(f"The header name {name!r} cannot be sent.", where="headers")
    if fields.is_of_connection(name):
        raise InvalidRequest(
            f"The header {name!r} is set by the connection.",
            where=f"headers.{name}",
            hint="Leave it out.",
        )
    if not fields.can_be_sent(value):
        raise InvalidRequest(
            f"The value of the header {name!r} has control characters or half a character.",
            where=f"headers.{name}",
        )


async def _pieces(body: bytes) -> AsyncIterator[bytes]:
    view = memoryview(body)
    for start in range(0, len(body), _PIECE):
        yield bytes(view[start : start + _PIECE])


async def _watched(body: AsyncIterable[bytes]) -> AsyncIterator[bytes]:
    """The caller's stream; what it raises is kept, since the HTTP client hides it."""
    try:
        async for piece in body:
            yield piece
    except Exception as error:
        trip.current.get().fault = error
        raise
