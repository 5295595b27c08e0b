"""This module is one MCP endpoint over HTTP: it reads the body and chooses the way.

What is ordinary takes the lean way; everything else goes to the SDK, which answers for the whole
protocol.
"""

from __future__ import annotations

from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from time import monotonic

from mcp.server.auth.middleware.bearer_auth import AuthenticatedUser
from mcp.server.auth.provider import AccessToken
from mcp.server.streamable_http_manager import StreamableHTTPSessionManager
from starlette.types import Receive, Scope, Send

from toolcrib.surfaces.mcp.answering import Answers
from toolcrib.surfaces.mcp.body import (
    MAX_BODY,
    Disconnected,
    Unreadable,
    again,
    read_body,
    too_many_sessions,
)
from toolcrib.surfaces.mcp.changes import Changes
from toolcrib.surfaces.mcp.lasting import EVERY, StillIn, lasting
from toolcrib.surfaces.mcp.lean import Lean
from toolcrib.surfaces.mcp.listing import PAGE, Pages
from toolcrib.surfaces.mcp.reading import headers_of, is_modern, ordinary, read_message, session_of
from toolcrib.surfaces.mcp.served import Served
from toolcrib.surfaces.mcp.server import SCOPE_SERVED, ToolServer, offered
from toolcrib.surfaces.mcp.sessions import IDLE, MOST, MOST_OF_ONE, STAYS, Session, Sessions
from toolcrib.surfaces.mcp.wire import object_of, refusal

LISTEN = "subscriptions/listen"


class Endpoint:
    """Serves to each request what comes with it. `run` must be entered before the first one."""

    def __init__(
        self,
        *,
        page_size: int = PAGE,
        lean: bool = True,
        look_every: float = EVERY,
        most_of_one: int = MOST_OF_ONE,
    ) -> None:
        """Without `lean` the SDK serves everything. `look_every` is in seconds: how long a stream
        may outlive the right to it."""
        self._look_every = look_every
        self.changes = Changes()
        pages = Pages(page_size)
        answers = Answers(pages)
        self._lean = Lean(answers, pages) if lean else None
        self._sessions = Sessions(most_of_one=most_of_one)
        self._server = ToolServer(answers, self.changes)
        self._manager = StreamableHTTPSessionManager(
            self._server,
            max_request_body_size=MAX_BODY,
            session_idle_timeout=IDLE,
            max_sessions=MOST,
        )

    @asynccontextmanager
    async def run(self) -> AsyncGenerator[None]:
        async with self._manager.run():
            try:
                yield
            finally:
                self._server.held.close()

    async def __call__(
        self,
        scope: Scope,
        receive: Receive,
        send: Send,
        served: Served,
        still_in: StillIn | None = None,
    ) -> None:
        """Answer one request. Raises ToolcribError when nothing can be served at all.

        `still_in` ends a stream when its listener would not be let in any more.
        """
        try:
            if scope["method"] == "POST":
                await self._post(scope, receive, send, served, still_in)
            else:
                receive = lasting(receive, still_in, every=self._look_every)
                await self._other(scope, receive, send, served)
        except Unreadable as bad:
            await refusal(bad.status, bad.code, str(bad), bad.data)(scope, receive, send)
        except Disconnected:
            return

    async def _post(
        self,
        scope: Scope,
        receive: Receive,
        send: Send,
        served: Served,
        still_in: StillIn | None,
    ) -> None:
        toolset = await served.toolset()
        body = await read_body(scope, receive)
        message, quick = read_message(body)
        headers = headers_of(scope["headers"])
        modern = is_modern(headers)
        session_id = session_of(headers)
        session = None if modern else self._sessions.find(session_id, served)
        if self._lean is not None and quick and _is_fresh(session, modern=modern):
            asked = ordinary(message, headers, session, modern=modern)
            if asked is not None and self._lean.takes(asked, toolset, session):
                await self._lean.answer(asked, served, session, receive, send)
                return
        if session is not None:
            session.heard(message)
            session.seen_at = monotonic()
        elif not modern and session_id is None:
            if self._sessions.are_too_many(served, now=monotonic()):
                raise too_many_sessions()
            send = self._sessions.opening(message, served, send, now=monotonic())
        if object_of(message).get("method") == LISTEN:
            receive = lasting(receive, still_in, every=self._look_every)
        offered.set(toolset)
        await self._to_sdk(scope, again(body, receive), send, served)

    async def _other(self, scope: Scope, receive: Receive, send: Send, served: Served) -> None:
        """A stream that is opened, a session that is ended, and what the SDK refuses."""
        await self._to_sdk(scope, receive, send, served)
        session_id = session_of(headers_of(scope["headers"]))
        if scope["method"] == "DELETE" and self._sessions.find(session_id, served) is not None:
            self._sessions.ended(str(session_id))

    async def _to_sdk(self, scope: Scope, receive: Receive, send: Send, served: Served) -> None:
        scope = {**scope, SCOPE_SERVED: served, "user": _owner(served)}
        await self._manager.handle_request(scope, receive, send)


def _is_fresh(session: Session | None, *, modern: bool) -> bool:
    """Whether the SDK need not see the request to know that its session is alive."""
    return modern or (session is not None and monotonic() - session.seen_at < STAYS)


def _owner(served: Served) -> AuthenticatedUser:
    """Who a session belongs to: to anybody else, and at another agent, it does not exist."""
    return AuthenticatedUser(AccessToken(token="", client_id=served.owner, scopes=[]))
