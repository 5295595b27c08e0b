"""This module sends requests for MCP to the gateway, past the routes of REST."""

from __future__ import annotations

import asyncio
from importlib import import_module
from typing import TYPE_CHECKING

from starlette.types import ASGIApp, Receive, Scope, Send

from toolcrib.platform import Platform
from toolcrib.surfaces.http.asking import SCOPE_CALLER
from toolcrib.surfaces.mcp.places import place_of

if TYPE_CHECKING:
    from toolcrib.surfaces.mcp.gateway import Gateway


class ToGateway:
    """The innermost middleware: it expects a Caller in the scope. The gateway and the SDK below it
    are loaded with the first request, for many installations never need them."""

    def __init__(self, app: ASGIApp) -> None:
        self._app = app
        self._gateways: dict[int, tuple[Platform, Gateway]] = {}

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        place = None
        if scope["type"] == "http":
            place = place_of(scope["path"].removeprefix(scope.get("root_path", "")))
        if place is None:
            await self._app(scope, receive, send)
            return
        gateway = await self._gateway(scope["app"].state.platform)
        await gateway(scope, receive, send, place=place, caller=scope[SCOPE_CALLER])

    async def _gateway(self, platform: Platform) -> Gateway:
        known = self._gateways.get(id(platform))
        if known is None or known[0] is not platform:
            made = await asyncio.to_thread(import_module, "toolcrib.surfaces.mcp.gateway")
            known = self._gateways.setdefault(id(platform), (platform, made.Gateway(platform)))
        return known[1]
