"""This module lets MCP requests in: it finds the agent, reads the body and chooses the way.

What is ordinary takes the lean way; everything else goes to the SDK, which answers for the whole
protocol.
"""

from __future__ import annotations

import asyncio
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
from toolcrib.surfaces.mcp.body import MAX_BODY, Disconnected, TooLarge, again, read_body
from toolcrib.surfaces.mcp.changes import Changes
from toolcrib.surfaces.mcp.entering import Entering, NoAgentNamed
from toolcrib.surfaces.mcp.failures import INVALID_REQUEST, of_error
from toolcrib.surfaces.mcp.listing import PAGE, Pages
from toolcrib.surfaces.mcp.places import Place
from toolcrib.surfaces.mcp.served import AgentTools
from toolcrib.surfaces.mcp.server import SCOPE_SERVED, ToolServer, offered
from toolcrib.surfaces.mcp.wire import refusal

_STATUS: Final = {"not_found": 404, "group_required": 400, "not_granted": 403}


class Gateway:
    """One for a platform. It starts with its first request and ends when the platform closes."""

    def __init__(self, platform: Platform, *, page_size: int = PAGE) -> None:
        self._platform = platform
        self._entering = Entering(platform)
        self._changes = Changes()
        self._answers = Answers(Pages(page_size))
        self._manager = StreamableHTTPSessionManager(
            ToolServer(self._answers, self._changes), max_request_body_size=MAX_BODY
        )
        self._running: asyncio.Future[None] | None = None

    async def __call__(
        self, scope: Scope, receive: Receive, send: Send, *, place: Place, caller: Caller
    ) -> None:
        """Answer one request for the place, on behalf of the caller."""
        try:
            served = await self._entering.served(place, caller)
            toolset = await served.toolset() if scope["method"] == "POST" else None
            body = await read_body(scope, receive) if scope["method"] == "POST" else b""
        except NoAgentNamed as none:
            data = {"code": "not_found", "agents": none.agents}
            await refusal(404, INVALID_REQUEST, str(none), data)(scope, receive, send)
        except ToolcribError as error:
            await _refused(error)(scope, receive, send)
        except TooLarge:
            words = f"The body is larger than {MAX_BODY} bytes."
            data = {"code": "too_large"}
            await refusal(413, INVALID_REQUEST, words, data)(scope, receive, send)
        except Disconnected:
            return
        else:
            await self._start()
            offered.set(toolset)
            scope = {**scope, SCOPE_SERVED: served, "user": _owner(served)}
            await self._manager.handle_request(scope, again(body, receive), send)

    async def _start(self) -> None:
        """Begin the background work with the first request."""
        if self._running is None:
            self._running = asyncio.get_running_loop().create_future()
            self._platform.storage.signals.subscribe(self._changes.on_signal)
            self._platform.tasks.spawn(self._run(self._running))
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
