"""This module sends requests for MCP to the gateway, past the routes of REST."""

from __future__ import annotations

import asyncio
from importlib import import_module
from typing import TYPE_CHECKING

from starlette.datastructures import State
from starlette.types import ASGIApp, Receive, Scope, Send

from toolcrib.surfaces.http.asking import SCOPE_CALLER, SCOPE_CALLER_NOW
from toolcrib.surfaces.mcp.places import place_of

if TYPE_CHECKING:
    from toolcrib.surfaces.mcp.gateway import Gateway


class ToGateway:
    """The innermost middleware: it expects a Caller in the scope. The gateway and the SDK below it
    are loaded with the first request, for many installations never need them."""

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        place = None
        if scope["type"] == "http":
            place = place_of(scope["path"].removeprefix(scope.get("root_path", "")))
        if place is None:
            await self._app(scope, receive, send)
            return
        gateway = await gateway_of(scope["app"].state)
        await gateway(
            scope,
            receive,
            send,
            place=place,
            caller=scope[SCOPE_CALLER],
            caller_now=scope.get(SCOPE_CALLER_NOW),
        )


async def gateway_of(state: State) -> Gateway:
    """The gateway of the application's platform, made once and kept in its state."""
    gateway: Gateway | None = getattr(state, "gateway", None)
    if gateway is None or gateway.platform is not state.platform:
        made = await asyncio.to_thread(import_module, "toolcrib.surfaces.mcp.gateway")
        if getattr(state, "gateway", None) is gateway:  # nobody was faster
            state.gateway = made.Gateway(state.platform)
    return state.gateway
