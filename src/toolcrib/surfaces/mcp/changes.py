"""This module tells clients that the list of their tools is not what it was.

Any change of the installation may have changed a list; each list that somebody listens to is looked
at again, once for all its listeners, and only those are told whose list differs.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Hashable
from dataclasses import dataclass, field

import structlog
from mcp.server.subscriptions import InMemorySubscriptionBus, ListenHandler, ToolsListChanged

from toolcrib.coordination.signals import Topic
from toolcrib.errors import ToolcribError
from toolcrib.surfaces.mcp.served import Served

_log = structlog.get_logger(__name__)
TOGETHER = 0.05
"""Seconds that a change waits for others that come with it."""
PATIENCE = 5.0
"""Seconds that one client has to take the news; whoever does not read is not told again."""
Tell = Callable[[], Awaitable[None]]


@dataclass(kw_only=True, slots=True)
class Watched:
    """One list with its listeners: sessions of the older era, streams of the newer."""

    served: Served
    bus: InMemorySubscriptionBus = field(default_factory=InMemorySubscriptionBus)
    tells: set[Tell] = field(default_factory=set[Tell])
    streams: int = 0
    seen: Hashable = None
    listen: ListenHandler = field(init=False)

    def __post_init__(self) -> None:
        self.listen = ListenHandler(self.bus)

    @property
    def idle(self) -> bool:
        return not self.tells and not self.streams


class Changes:
    """Who listens to which list. `run` must run while there is somebody."""

    def __init__(self, *, patience: float = PATIENCE) -> None:
        self._patience = patience
        self._watched: dict[Hashable, Watched] = {}
        self._changed = asyncio.Event()

    async def on_signal(self, topic: Topic) -> None:
        self._changed.set()

    async def watch(self, served: Served) -> Watched:
        """The list, looked at now: what differs from here on is told."""
        watched = self._watched.get(served.key)
        if watched is None:
            watched = Watched(served=served)
            self._watched[served.key] = watched
            watched.seen = await _fingerprint(served)
        return watched

    def forget(self, served: Served) -> None:
        """Let go of a list to which nobody listens any more."""
        watched = self._watched.get(served.key)
        if watched is not None and watched.idle:
            del self._watched[served.key]

    async def run(self) -> None:
        while True:
            await self._changed.wait()
            await asyncio.sleep(TOGETHER)
            self._changed.clear()
            for watched in list(self._watched.values()):
                await self._look_safely(watched)

    async def _look(self, watched: Watched) -> None:
        seen = await _fingerprint(watched.served)
        if seen == watched.seen:
            return
        watched.seen = seen
        await watched.bus.publish(ToolsListChanged())
        await asyncio.gather(*(self._told(watched, tell) for tell in list(watched.tells)))

    async def _told(self, watched: Watched, tell: Tell) -> None:
        """All are told at once: one who does not listen yet is waited for, and keeps its place."""
        try:
            async with asyncio.timeout(self._patience):
                await tell()
        except TimeoutError:
            _log.debug("client does not listen")
        except Exception as error:  # noqa: BLE001 - one client that is gone must not stop it
            _log.debug("client not told", error=repr(error))
            watched.tells.discard(tell)

    async def _look_safely(self, watched: Watched) -> None:
        """Whatever goes wrong with one list: the others, and the gateway, go on."""
        try:
            await self._look(watched)
        except Exception as error:  # noqa: BLE001 - it is looked at again with the next change
            _log.warning("a list was not looked at", error=repr(error))


async def _fingerprint(served: Served) -> Hashable:
    """Differs when the client would see another list; an agent out of reach is one as well."""
    try:
        toolset = await served.toolset()
    except ToolcribError as error:
        return error.code
    tools = tuple((name, tool.spec.fingerprint) for name, tool in toolset.offered.items())
    return tools, toolset.skipped
