"""This module is the protocol's server: the SDK's, with our answers for tools.

The SDK does the handshake, sessions, streams and errors of both eras. Lists and calls are answered
in its middleware, so that what a tool gave goes out as it is instead of through the SDK's models.
"""

from __future__ import annotations

from collections.abc import Mapping
from contextvars import ContextVar
from typing import Any, Final

import mcp_types as types
import orjson
from mcp.server.caching import CacheHint
from mcp.server.context import CallNext, HandlerResult, ServerRequestContext
from mcp.server.lowlevel import Server
from mcp.shared.exceptions import MCPError
from mcp_types import methods
from mcp_types.version import MODERN_PROTOCOL_VERSIONS

from toolcrib.resolution.toolset import Toolset
from toolcrib.surfaces.mcp.answering import FRESH_MS, NAME, VERSION, Answers
from toolcrib.surfaces.mcp.changes import Changes
from toolcrib.surfaces.mcp.failures import INVALID_PARAMS, RpcError
from toolcrib.surfaces.mcp.held import Held
from toolcrib.surfaces.mcp.peer import Peer, connection_of
from toolcrib.surfaces.mcp.served import Back, Served

SCOPE_SERVED: Final = "toolcrib.mcp.served"
"""Where the gateway puts what a request is about into its scope."""
offered: ContextVar[Toolset | None] = ContextVar("toolcrib_mcp_offered", default=None)
"""What the request may call: the SDK compares its `Mcp-Param-*` headers with a tool's schema."""
Context = ServerRequestContext[Any, Any]


class ToolServer(Server[Any]):
    """Serves what stands in each request's scope, or always the same."""

    def __init__(self, answers: Answers, changes: Changes, *, served: Served | None = None) -> None:
        super().__init__(
            NAME,
            version=VERSION,
            title="Toolcrib",
            cache_hints={"server/discover": CacheHint(ttl_ms=FRESH_MS)},
            get_tool_input_schema=_schema_of,
            on_subscriptions_listen=self._on_listen,
        )
        self._answers = answers
        self._changes = changes
        self._always = served
        self.held = Held()
        self.middleware = [self._answer]
        self.add_request_handler("logging/setLevel", types.SetLevelRequestParams, self._on_level)
        self.add_notification_handler(
            "notifications/initialized", types.NotificationParams, self._on_initialized
        )

    def get_capabilities(self, *args: Any, **named: Any) -> types.ServerCapabilities:
        return types.ServerCapabilities(
            tools=types.ToolsCapability(list_changed=True), logging=types.LoggingCapability()
        )

    async def _answer(self, ctx: Context, call_next: CallNext) -> HandlerResult:
        try:
            if ctx.method == "tools/list":
                return await self._list(ctx)
            if ctx.method == "tools/call":
                return await self._call(ctx)
            result = await call_next(ctx)
            if ctx.method in {"initialize", "server/discover"} and isinstance(result, dict):
                told = await self._answers.instructions(self._served(ctx))
                return {**result, "instructions": told}
            return result
        except RpcError as error:
            raise MCPError(error.code, error.message, error.data and dict(error.data)) from None

    async def _list(self, ctx: Context) -> HandlerResult:
        params = _checked(ctx)
        listed = await self._answers.list(self._served(ctx), params, modern=_is_modern(ctx))
        return orjson.loads(listed)

    async def _call(self, ctx: Context) -> HandlerResult:
        params, served, peer = _checked(ctx), self._served(ctx), Peer(ctx)
        modern = peer.is_modern

        async def run(back: Back) -> dict[str, Any]:
            return await self._answers.call(served, params, back, modern=modern)

        name = str(params["name"])
        if modern and params.get("requestState") is not None:
            return await self.held.resume(served, name, peer.back, params)
        if modern and peer.can_be_asked:
            return await self.held.begin(
                served,
                name,
                peer.back,
                run,
                takes=peer.takes,
                brought=params.get("inputResponses"),
            )
        return await run(peer.back)

    async def _on_listen(
        self, ctx: Context, params: types.SubscriptionsListenRequestParams
    ) -> types.SubscriptionsListenResult:
        """The newer era's way to hear of changes: of the list of tools, and of nothing else."""
        served = self._served(ctx)
        wanted = types.SubscriptionFilter(
            tools_list_changed=params.notifications.tools_list_changed
        )
        watched = await self._changes.watch(served)
        watched.streams += 1
        try:
            return await watched.listen(ctx, params.model_copy(update={"notifications": wanted}))
        finally:
            watched.streams -= 1
            self._changes.forget(served)

    async def _on_initialized(self, ctx: Context, params: types.NotificationParams) -> None:
        """The older era's way: a session is told until it ends."""
        served, connection = self._served(ctx), connection_of(ctx)
        watched = await self._changes.watch(served)
        tell = connection.send_tool_list_changed
        if tell in watched.tells:
            return
        watched.tells.add(tell)

        def end() -> None:
            watched.tells.discard(tell)
            self._changes.forget(served)

        connection.exit_stack.callback(end)

    async def _on_level(
        self, ctx: Context, params: types.SetLevelRequestParams
    ) -> types.EmptyResult:
        Peer(ctx).set_level(params.level)
        return types.EmptyResult()

    def _served(self, ctx: Context) -> Served:
        if self._always is not None:
            return self._always
        assert ctx.request is not None  # noqa: S101 - only the gateway lets requests in
        return ctx.request.scope[SCOPE_SERVED]


def _schema_of(name: str) -> Mapping[str, Any] | None:
    toolset = offered.get()
    tool = toolset.find(name) if toolset else None
    return tool.input_schema if tool else None


def _is_modern(ctx: Context) -> bool:
    return ctx.protocol_version in MODERN_PROTOCOL_VERSIONS


def _checked(ctx: Context) -> Mapping[str, Any]:
    """The parameters, once they fit the era. The SDK does the same before its own handlers."""
    if not connection_of(ctx).initialize_accepted:
        raise MCPError(INVALID_PARAMS, "The session is not initialized.")
    methods.validate_client_request(ctx.method, ctx.protocol_version, ctx.params)
    return ctx.params or {}
