"""This module opens the ways out: one guarded client, and the pool of MCP servers over it."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING

import structlog

from toolcrib.coordination.signals import Signals
from toolcrib.errors import SourceProtocolError, ToolcribError
from toolcrib.isolation.confinement import Confinement
from toolcrib.net.client import GuardedClient
from toolcrib.net.guard import EgressPolicy
from toolcrib.platform.tasks import Tasks
from toolcrib.settings import Settings
from toolcrib.sources.mcp.policy import StdioPolicy
from toolcrib.sources.mcp.pool import Pool

if TYPE_CHECKING:
    from toolcrib.net.streaming import StreamingClients

_log = structlog.get_logger(__name__)
IMPORT_LIMIT = 1024 * 1024
"""The most bytes of a document that is imported from an address."""


def _walls(settings: Settings) -> Confinement | None:
    """What servers are started behind, where the operator says so."""
    if settings.stdio_sandbox == "off":
        return None
    data = settings.data_dir
    return Confinement(folder=data / "servers", hidden=(data,))


class WaysOut:
    """What connects to others: `client` for requests, `servers` for MCP."""

    def __init__(self, settings: Settings, signals: Signals, tasks: Tasks) -> None:
        self._proxy = settings.egress_proxy.get_secret_value()
        self._signals = signals
        self._tasks = tasks
        self._streams: StreamingClients | None = None
        self._telling: asyncio.Task[None] | None = None
        self.client = GuardedClient(EgressPolicy(settings.egress_allow), proxy=self._proxy)
        self.policy = StdioPolicy(settings.stdio_allow, walls=_walls(settings))
        self.servers = Pool(
            clients=self._streaming_clients,
            poster=self.client,
            policy=self.policy,
            spawn=tasks.spawn,
            changed=self._changed,
        )

    async def fetch(self, url: str) -> str:
        """The text behind an https address, for a person's import."""
        answer = await self.client.request(
            "GET", url, timeout=30.0, limit=IMPORT_LIMIT, follow_redirects=True
        )
        if not answer.ok or answer.truncated:
            what = f"HTTP {answer.status}" if not answer.ok else f"more than {IMPORT_LIMIT} bytes"
            raise SourceProtocolError(f"The address answered {what}.", where="url")
        return answer.text()

    def _streaming_clients(self) -> StreamingClients:
        """Made when the first server is connected to: most installations start without one."""
        if self._streams is None:
            from toolcrib.net.streaming import StreamingClients  # noqa: PLC0415 - as said above

            self._streams = StreamingClients(self.client.guard, proxy=self._proxy)
        return self._streams

    def _changed(self) -> None:
        """What was shown of a server is not so any more: Toolsets are made anew, once for many."""
        if self._telling is None or self._telling.done():
            self._telling = self._tasks.spawn(self._tell())

    async def _tell(self) -> None:
        try:
            await self._signals.bump("mcp")
        except ToolcribError as error:
            _log.warning("a change of servers is not told", error=str(error))
