"""This module lets MCP requests in: it finds the agent, reads the body and chooses the way.

What is ordinary takes the lean way; everything else goes to the SDK, which answers for the whole
protocol.
"""

from __future__ import annotations

import asyncio
from time import monotonic
from typing import Final

from mcp.server.auth.middleware.bearer_auth import AuthenticatedUser
from mcp.server.auth.provider import AccessToken
from mcp.server.streamable_http_manager import StreamableHTTPSessionManager
from starlette.responses import Response
from starlette.types import Receive, Scope, Send

from toolcrib.errors import ToolcribError
from toolcrib.identity.caller import Caller
from toolcrib.platform import Platform
from toolcrib.surfaces.mcp.answering import Answers
from toolcrib.surfaces.mcp.body import MAX_BODY, Disconnected, Unreadable, again, read_body
from toolcrib.surfaces.mcp.changes import Changes
from toolcrib.surfaces.mcp.entering import Entering, NoAgentNamed
from toolcrib.surfaces.mcp.failures import INVALID_REQUEST, of_error
from toolcrib.surfaces.mcp.lean import Lean
from toolcrib.surfaces.mcp.listing import PAGE, Pages
from toolcrib.surfaces.mcp.places import Place
from toolcrib.surfaces.mcp.reading import headers_of, is_modern, ordinary, read_message, session_of
from toolcrib.surfaces.mcp.served import AgentTools
from toolcrib.surfaces.mcp.server import SCOPE_SERVED, ToolServer, offered
from toolcrib.surfaces.mcp.sessions import IDLE, MOST, STAYS, Session, Sessions
from toolcrib.surfaces.mcp.wire import refusal

_STATUS: Final = {"not_found": 404, "group_required": 400, "not_granted": 403}


class Gateway:
    """One for a platform. It starts with its first request and ends when the platform closes."""

    def __init__(self, platform: Platform, *, page_size: int = PAGE, lean: bool = True) -> None:
        """Without `lean` the SDK serves everything."""
        self.platform = platform
        self._entering = Entering(platform)
        self._changes = Changes()
        pages = Pages(page_size)
        answers = Answers(pages)
        self._lean = Lean(answers, pages) if lean else None
        self._sessions = Sessions()
        self._manager = StreamableHTTPSessionManager(
            ToolServer(answers, self._changes),
            max_request_body_size=MAX_BODY,
            session_idle_timeout=IDLE,
            max_sessions=MOST,
        )
        self._running: asyncio.Future[None] | None = None

    async def __call__(
        self, scope: Scope, receive: Receive, send: Send, *, place: Place, caller: Caller
    ) -> None:
        """Answer one request for the place, on behalf of the caller."""
        try:
            served = await self._entering.served(place, caller)
            if scope["method"] == "POST":
                await self._post(scope, receive, send, served)
            else:
                await self._other(scope, receive, send, served)
        except NoAgentNamed as none:
            data = {"code": "not_found", "agents": none.agents}
            await refusal(404, INVALID_REQUEST, str(none), data)(scope, receive, send)
        except Unreadable as bad:
            await refusal(bad.status, bad.code, str(bad), bad.data)(scope, receive, send)
        except ToolcribError as error:
            await _refused(error)(scope, receive, send)
        except Disconnected:
            return

    async def _post(self, scope: Scope, receive: Receive, send: Send, served: AgentTools) -> None:
        toolset = await served.toolset()
        body = await read_body(scope, receive)
        message, quick = read_message(body)
        modern = is_modern(scope["headers"])
        headers = headers_of(scope["headers"])
        session_id = session_of(scope["headers"])
        session = None if modern else self._sessions.find(session_id, served)
        if self._lean is not None and quick and self._is_fresh(session, modern=modern):
            asked = ordinary(message, headers, session, modern=modern)
            if asked is not None and self._lean.takes(asked, toolset, session):
                await self._lean.answer(asked, served, session, receive, send)
                return
        if session is not None:
            session.heard(message)
            session.seen_at = monotonic()
        elif not modern and session_id is None:
            send = self._sessions.opening(message, served, send, now=monotonic())
        offered.set(toolset)
        await self._to_sdk(scope, again(body, receive), send, served)

    async def _other(self, scope: Scope, receive: Receive, send: Send, served: AgentTools) -> None:
        """A stream that is opened, a session that is ended, and what the SDK refuses."""
        await self._to_sdk(scope, receive, send, served)
        session_id = session_of(scope["headers"])
        if scope["method"] == "DELETE" and self._sessions.find(session_id, served) is not None:
            self._sessions.ended(str(session_id))

    def _is_fresh(self, session: Session | None, *, modern: bool) -> bool:
        """Whether the SDK need not see the request to know that its session is alive."""
        return modern or (session is not None and monotonic() - session.seen_at < STAYS)

    async def _to_sdk(self, scope: Scope, receive: Receive, send: Send, served: AgentTools) -> None:
        await self._start()
        scope = {**scope, SCOPE_SERVED: served, "user": _owner(served)}
        await self._manager.handle_request(scope, receive, send)

    async def _start(self) -> None:
        """Begin the background work with the first request."""
        if self._running is None:
            self._running = asyncio.get_running_loop().create_future()
            self.platform.storage.signals.subscribe(self._changes.on_signal)
            self.platform.tasks.spawn(self._run(self._running))
        await asyncio.shield(self._running)

    async def _run(self, running: asyncio.Future[None]) -> None:
        async with self._manager.run():
            running.set_result(None)
            await self._changes.run()


def _owner(served: AgentTools) -> AuthenticatedUser:
    """Who a session belongs to: to anybody else, and at another agent, it does not exist."""
    who = served.caller
    token = AccessToken(
        token="",
        client_id=str(who.user_id),
        subject=f"{served.agent_id}/{who.group_id}/{who.agent_id}",
        scopes=[],
    )
    return AuthenticatedUser(token)


def _refused(error: ToolcribError) -> Response:
    told = of_error(error)
    status = _STATUS.get(error.code, 500)
    return refusal(status, told.code, told.message, told.data)
