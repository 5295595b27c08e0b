"""This module speaks to the client of a request that the SDK serves, while the request runs."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from mcp.server.connection import Connection, allowed_log_levels
from mcp.server.context import ServerRequestContext
from mcp.shared.exceptions import MCPError, NoBackChannelError
from mcp_types import ElicitationCapability
from mcp_types.version import MODERN_PROTOCOL_VERSIONS

from toolcrib.errors import CallRefused
from toolcrib.surfaces.mcp.served import Back
from toolcrib.surfaces.mcp.wire import LEVELS, object_of
from toolcrib.tools.call import no_log, no_progress

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
        token = object_of((self._ctx.params or {}).get("_meta")).get("progressToken")
        return Back(
            progress=no_progress if token is None else self._progress,
            log=self._log if self._hears(LEVELS[-1]) else no_log,
            ask=self._ask if self.can_be_asked and not self.is_modern else None,
        )

    @property
    def is_modern(self) -> bool:
        return self._connection.protocol_version in MODERN_PROTOCOL_VERSIONS

    @property
    def can_be_asked(self) -> bool:
        capabilities = self._connection.client_capabilities
        return capabilities is not None and capabilities.elicitation is not None

    def set_level(self, level: str) -> None:
        """From now on this session hears nothing below the level."""
        self._connection.state[_LEVEL] = level

    async def _progress(self, done: float, total: float | None, message: str | None) -> None:
        await self._channel.progress(done, total, message)

    async def _ask(self, params: Mapping[str, Any], name: str) -> Mapping[str, Any]:
        """Only the older era can ask while a call runs."""
        if not self.takes(params):
            raise CallRefused("The client cannot ask in that way.")
        try:
            return await self._channel.send_raw_request("elicitation/create", params)
        except (MCPError, NoBackChannelError) as error:
            raise CallRefused(f"The client did not ask: {error}") from None

    def takes(self, params: Mapping[str, Any]) -> bool:
        """Whether the client has said that it can ask in the way that the question wants."""
        capabilities = self._connection.client_capabilities
        elicitation = capabilities.elicitation if capabilities is not None else None
        if elicitation is None:
            return False
        wants_url = params.get("mode") == "url"
        return elicitation.url is not None if wants_url else not _only_urls(elicitation)

    async def _log(self, level: str, data: Any, logger: str | None) -> None:
        if not self._hears(level):
            return
        named = {"logger": logger} if logger is not None else {}
        await self._channel.notify("notifications/message", {"level": level, "data": data, **named})

    def _hears(self, level: str) -> bool:
        if self.is_modern:
            return level in allowed_log_levels(self._connection.protocol_version, self._ctx.meta)
        least = self._connection.state.get(_LEVEL, LEVELS[0])
        return level in LEVELS and LEVELS.index(level) >= LEVELS.index(least)


def _only_urls(elicitation: ElicitationCapability) -> bool:
    """Saying nothing means forms, which was all there was at first."""
    return elicitation.url is not None and elicitation.form is None
