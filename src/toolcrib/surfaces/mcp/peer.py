"""This module speaks to the client of a request that the SDK serves, while the request runs."""

from __future__ import annotations

from typing import Any

from mcp.server.connection import Connection, allowed_log_levels
from mcp.server.context import ServerRequestContext
from mcp_types.version import MODERN_PROTOCOL_VERSIONS

from toolcrib.surfaces.mcp.served import Back
from toolcrib.surfaces.mcp.wire import LEVELS
from toolcrib.tools.call import no_progress

_LEVEL = "toolcrib.level"


def connection_of(ctx: ServerRequestContext[Any, Any]) -> Connection:
    """The connection that a request came by. The SDK has it, and no public way to it."""
    return ctx.session._connection  # noqa: SLF001 # pyright: ignore[reportPrivateUsage]


class Peer:
    """The client of one request."""

    def __init__(self, ctx: ServerRequestContext[Any, Any]) -> None:
        self._ctx = ctx
        self._channel = ctx.session._request_outbound  # noqa: SLF001 # pyright: ignore[reportPrivateUsage]
        self._connection = connection_of(ctx)

    @property
    def back(self) -> Back:
        token = (self._ctx.meta or {}).get("progressToken")
        return Back(progress=no_progress if token is None else self._progress, log=self._log)

    def set_level(self, level: str) -> None:
        """From now on this session hears nothing below the level."""
        self._connection.state[_LEVEL] = level

    async def _progress(self, done: float, total: float | None, message: str | None) -> None:
        await self._channel.progress(done, total, message)

    async def _log(self, level: str, data: Any, logger: str | None) -> None:
        if not self._hears(level):
            return
        named = {"logger": logger} if logger is not None else {}
        await self._channel.notify("notifications/message", {"level": level, "data": data, **named})

    def _hears(self, level: str) -> bool:
        version = self._connection.protocol_version
        if version in MODERN_PROTOCOL_VERSIONS:
            return level in allowed_log_levels(version, self._ctx.meta)
        least = self._connection.state.get(_LEVEL, LEVELS[0])
        return level in LEVELS and LEVELS.index(level) >= LEVELS.index(least)
