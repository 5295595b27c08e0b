"""This module serves registered tools where nothing is stored: no users, no grants, no journal.

Arguments are checked, and results masked and capped, as everywhere.
"""

from __future__ import annotations

from collections.abc import Hashable, Sequence

from mcp.server.stdio import stdio_server
from starlette.types import Receive, Scope, Send

from toolcrib.catalog.capabilities import Capability
from toolcrib.errors import NotFound
from toolcrib.identity.caller import Caller
from toolcrib.invocation.flight import Outcome, Request
from toolcrib.platform import Bare
from toolcrib.resolution.resolve import resolve
from toolcrib.resolution.toolset import Toolset
from toolcrib.surfaces.mcp.answering import Answers
from toolcrib.surfaces.mcp.changes import Changes
from toolcrib.surfaces.mcp.endpoint import Endpoint
from toolcrib.surfaces.mcp.failures import INVALID_REQUEST
from toolcrib.surfaces.mcp.listing import Pages
from toolcrib.surfaces.mcp.places import place_of
from toolcrib.surfaces.mcp.served import Back
from toolcrib.surfaces.mcp.server import ToolServer
from toolcrib.surfaces.mcp.wire import refusal

NOBODY = 0
"""The id of the user that tools see."""


class PluginTools:
    """The tools of some codes, the same for everybody who reaches this process."""

    def __init__(self, parts: Bare, codes: Sequence[str]) -> None:
        self._parts = parts
        self._codes = tuple(codes)
        self._caller = Caller(user_id=NOBODY)
        self._toolset: Toolset | None = None

    @property
    def key(self) -> Hashable:
        return self._codes

    @property
    def owner(self) -> str:
        return ",".join(self._codes)

    @property
    def who(self) -> Hashable:
        return None

    @property
    def label(self) -> str:
        return f"the code {', '.join(self._codes)}"

    async def toolset(self) -> Toolset:
        """Resolved once: nothing is registered later in such a process."""
        if self._toolset is None:
            rows = [
                Capability(id=-place, name=code, code=code, access_type="system", ordering=place)
                for place, code in enumerate(self._codes, 1)
            ]
            providers = self._parts.providers
            self._toolset = await resolve(rows, self._caller, providers=providers, settings={})
        return self._toolset

    async def now(self) -> PluginTools:
        return self

    async def call(self, name: str, arguments: object, back: Back) -> Outcome:
        tool = (await self.toolset()).tools.get(name)
        if tool is None:
            raise NotFound(f"There is no tool {name!r} here.")
        return await self._parts.invoker.invoke(
            Request(
                tool=tool,
                caller=self._caller,
                arguments=arguments,
                surface="mcp",
                progress=back.progress,
                log=back.log,
                ask=back.ask,
            )
        )


async def serve_stdio(served: PluginTools) -> None:
    """Serve one client over stdin and stdout until it closes them. What tools print meanwhile goes
    to stderr."""
    server = ToolServer(Answers(Pages()), Changes(), served=served)
    async with stdio_server() as (read, write):
        await server.run(read, write, server.create_initialization_options())


class Standalone:
    """The ASGI application of the same over HTTP, at `/mcp`."""

    def __init__(self, served: PluginTools) -> None:
        self._served = served
        self._endpoint = Endpoint()

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "lifespan":
            await self._live(receive, send)
            return
        place = place_of(scope["path"])
        if place is None or place.agent_id is not None:
            words = "There is nothing but /mcp here."
            await refusal(404, INVALID_REQUEST, words)(scope, receive, send)
            return
        await self._endpoint(scope, receive, send, self._served)

    async def _live(self, receive: Receive, send: Send) -> None:
        await receive()
        async with self._endpoint.run():
            await send({"type": "lifespan.startup.complete"})
            await receive()
        await send({"type": "lifespan.shutdown.complete"})
