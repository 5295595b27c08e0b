"""This module serves the agents of a platform: it finds the agent that a request is about."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from typing import Final

from starlette.responses import Response
from starlette.types import Receive, Scope, Send

from toolcrib.errors import ToolcribError
from toolcrib.identity.caller import Caller
from toolcrib.platform import Platform
from toolcrib.surfaces.mcp.endpoint import Endpoint
from toolcrib.surfaces.mcp.entering import Entering, NoAgentNamed
from toolcrib.surfaces.mcp.failures import INVALID_REQUEST, of_error
from toolcrib.surfaces.mcp.lasting import EVERY
from toolcrib.surfaces.mcp.listing import PAGE
from toolcrib.surfaces.mcp.places import Place
from toolcrib.surfaces.mcp.sessions import MOST_OF_ONE
from toolcrib.surfaces.mcp.wire import refusal

_STATUS: Final = {"not_found": 404, "group_required": 400, "not_granted": 403}


class Gateway:
    """One for a platform. It starts with its first request and ends when the platform closes."""

    def __init__(
        self,
        platform: Platform,
        *,
        page_size: int = PAGE,
        lean: bool = True,
        look_every: float = EVERY,
        most_of_one: int = MOST_OF_ONE,
    ) -> None:
        """As Endpoint."""
        self.platform = platform
        self._entering = Entering(platform)
        self._endpoint = Endpoint(
            page_size=page_size, lean=lean, look_every=look_every, most_of_one=most_of_one
        )
        self._running: asyncio.Future[None] | None = None

    async def __call__(
        self,
        scope: Scope,
        receive: Receive,
        send: Send,
        *,
        place: Place,
        caller: Caller,
        caller_now: Callable[[], Awaitable[Caller]] | None = None,
    ) -> None:
        """Answer one request for the place, on behalf of the caller. `caller_now` gives whoever
        the request's token belongs to later on, and raises as it did at the door."""

        async def still_in() -> None:
            assert caller_now is not None  # noqa: S101 - else nobody asks
            await self._entering.served(place, await caller_now())

        try:
            served = await self._entering.served(place, caller)
            await self._start()
            asked = still_in if caller_now is not None else None
            await self._endpoint(scope, receive, send, served, asked)
        except NoAgentNamed as none:
            data = {"code": "not_found", "agents": none.agents}
            await refusal(404, INVALID_REQUEST, str(none), data)(scope, receive, send)
        except ToolcribError as error:
            await _refused(error)(scope, receive, send)

    async def _start(self) -> None:
        """Begin the background work with the first request."""
        if self._running is None:
            self._running = asyncio.get_running_loop().create_future()
            self.platform.storage.signals.subscribe(self._endpoint.changes.on_signal)
            self.platform.tasks.spawn(self._run(self._running))
        if not self._running.done():
            await asyncio.shield(self._running)

    async def _run(self, running: asyncio.Future[None]) -> None:
        async with self._endpoint.run():
            running.set_result(None)
            await self._endpoint.changes.run()


def _refused(error: ToolcribError) -> Response:
    told = of_error(error)
    return refusal(_STATUS.get(error.code, 500), told.code, told.message, told.data)
