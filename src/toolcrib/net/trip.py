"""This module follows one request on its way: where it may connect, and whether it was sent.

The trip travels in a context variable, so that the parts of the HTTP client that run deep inside it
(resolver, socket factory, connection pool) know whose connection they are making.
"""

from __future__ import annotations

import socket
from collections.abc import Callable
from contextvars import ContextVar
from typing import Any

from toolcrib.errors import EgressBlocked
from toolcrib.net.urls import Destination

SAFE_METHODS = frozenset({"GET", "HEAD", "OPTIONS"})
"""Methods that change nothing by definition (RFC 9110, 9.2.1): these may be sent a second time."""


class Trip:
    """`pins` are the judged addresses; `sent` turns true when a connection takes the request.

    `on_sent` is told of it then; `fault` is what the caller's own streamed body raised.
    """

    __slots__ = ("fault", "on_sent", "pins", "place", "safe", "sent")

    def __init__(
        self, place: Destination, method: str, on_sent: Callable[[], None] | None = None
    ) -> None:
        self.place = place
        self.safe = method in SAFE_METHODS
        self.sent = False
        self.on_sent = on_sent
        self.fault: Exception | None = None
        self.pins: frozenset[tuple[str, int]] = frozenset()
        if place.address is not None:
            self.pins = frozenset({(place.host, place.port)})

    def mark_sent(self) -> None:
        """From here on nobody can promise that the upstream saw nothing."""
        self.sent = True
        if self.on_sent is not None:
            self.on_sent()


current: ContextVar[Trip] = ContextVar("toolcrib_trip")


def open_socket(address: tuple[int, int, int, str, tuple[Any, ...]]) -> socket.socket:
    """The last line: no socket for an address that was not judged for this very request."""
    family, kind, protocol, _, target = address
    going = current.get()
    if (target[0], target[1]) not in going.pins:
        raise EgressBlocked(
            f"A connection to {going.place.host!r} went for an address that was not judged.",
            sent=False,
        )
    return socket.socket(family=family, type=kind, proto=protocol)
