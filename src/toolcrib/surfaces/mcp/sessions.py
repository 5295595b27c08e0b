"""This module remembers the sessions of the older era: whose they are, and what runs in them."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Hashable, Mapping
from dataclasses import dataclass, field
from typing import Any, Final

from mcp_types.version import HANDSHAKE_PROTOCOL_VERSIONS, LATEST_HANDSHAKE_VERSION
from starlette.types import Message, Send

from toolcrib.surfaces.mcp.served import Served
from toolcrib.surfaces.mcp.streaming import Attending
from toolcrib.surfaces.mcp.wire import LEVELS, RequestId, object_of

MOST: Final = 10_000
MOST_OF_ONE: Final = 2_000
"""How many of them one user may have, so that nobody shuts all others out."""
IDLE: Final = 30 * 60.0
"""Seconds without a request after which the SDK ends a session."""
STAYS: Final = 10 * 60.0
"""Seconds for which a session surely lives after the SDK last saw a request of it."""


@dataclass(kw_only=True, slots=True)
class Session:
    """`seen_at` is when the SDK last served a request of the session."""

    owner: str
    who: Hashable
    version: str
    can_be_asked: bool
    seen_at: float
    level: str | None = None
    in_flight: dict[RequestId, Attending] = field(default_factory=dict[RequestId, Attending])

    def heard(self, message: Any) -> None:
        """Take notice of what the client tells the SDK and what concerns the lean way as well."""
        told = object_of(message)
        params = object_of(told.get("params"))
        if told.get("method") == "notifications/cancelled":
            running = self.in_flight.get(params.get("requestId", ""))
            if running is not None:
                running.cancel()
        elif told.get("method") == "logging/setLevel" and params.get("level") in LEVELS:
            self.level = params["level"]


class Sessions:
    """By the id that the client sends. `most_of_one`: how many a user may have at a time."""

    def __init__(self, *, most_of_one: int = MOST_OF_ONE) -> None:
        self._known: OrderedDict[str, Session] = OrderedDict()
        self._most_of_one = most_of_one

    def are_too_many(self, served: Served, *, now: float) -> bool:
        """Whether the user has as many sessions open as one may."""
        if served.who is None or len(self._known) < self._most_of_one:
            return False
        alive = (one for one in self._known.values() if now - one.seen_at < IDLE)
        return sum(one.who == served.who for one in alive) >= self._most_of_one

    def opening(self, message: Any, served: Served, send: Send, *, now: float) -> Send:
        """A `send` that remembers the session which the SDK makes of an `initialize`."""
        params = object_of(object_of(message).get("params"))

        async def noticed(answer: Message) -> None:
            if answer["type"] == "http.response.start" and answer["status"] == 200:
                for name, value in answer["headers"]:
                    if name.lower() == b"mcp-session-id":
                        begun = _begun(served, params, now=now)
                        self._keep(value.decode("latin-1"), begun)
            await send(answer)

        return noticed

    def _keep(self, session_id: str, session: Session) -> None:
        self._known[session_id] = session
        while len(self._known) > MOST:
            self._known.popitem(last=False)

    def find(self, session_id: str | None, served: Served) -> Session | None:
        """The session, for those whose it is."""
        session = self._known.get(session_id) if session_id else None
        return session if session is not None and session.owner == served.owner else None

    def ended(self, session_id: str) -> None:
        session = self._known.pop(session_id, None)
        for running in list(session.in_flight.values()) if session else ():
            running.cancel()


def _begun(served: Served, params: Mapping[str, Any], *, now: float) -> Session:
    asked = params.get("protocolVersion")
    return Session(
        owner=served.owner,
        who=served.who,
        version=asked if asked in HANDSHAKE_PROTOCOL_VERSIONS else LATEST_HANDSHAKE_VERSION,
        can_be_asked="elicitation" in object_of(params.get("capabilities")),
        seen_at=now,
    )
