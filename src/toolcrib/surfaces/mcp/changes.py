"""This module tells clients that the list of their tools is not what it was.

Any change of the installation may have changed a list; each list that somebody listens to is looked
at again, once for all its listeners, and only those are told whose list differs. What counts is
what its user may have by now, and not what they might when they began to listen.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Hashable
from dataclasses import dataclass, field

import structlog
from mcp.server.subscriptions import InMemorySubscriptionBus, ListenHandler, ToolsListChanged

from toolcrib.coordination.signals import Topic
from toolcrib.errors import AccessError, NotFound, RequestError, ToolcribError
from toolcrib.surfaces.mcp.served import Served

_log = structlog.get_logger(__name__)
TOGETHER = 0.05
"""Seconds that a change waits for others that come with it."""
PATIENCE = 5.0
"""Seconds that one client has to take the news; it keeps its place, and hears of later changes."""
Tell = Callable[[], Awaitable[None]]


@dataclass(kw_only=True, slots=True, eq=False)
class Watched:
    """One list with its listeners: sessions of the older era, streams of the newer."""

    served: Served
    bus: InMemorySubscriptionBus = field(default_factory=InMemorySubscriptionBus)
    tells: set[Tell] = field(default_factory=set[Tell])
    being_told: set[Tell] = field(default_factory=set[Tell])
    streams: int = 0
    seen: Hashable = None
    listen: ListenHandler = field(init=False)

    def __post_init__(self) -> None:
        self.listen = ListenHandler(self.bus)

    @property
    def idle(self) -> bool:
        return not self.tells and not self.streams

    @property
    def untold(self) -> set[Tell]:
        """All listeners whom nobody is telling at the moment."""
        return {self.tell_streams, *self.tells} - self.being_told

    async def tell_streams(self) -> None:
        await self.bus.publish(ToolsListChanged())


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
        """Look whenever something changed. No client and no list holds up another."""
        async with asyncio.TaskGroup() as telling:
            while True:
                await self._changed.wait()
                await asyncio.sleep(TOGETHER)
                self._changed.clear()
                for watched in list(self._watched.values()):
                    if await self._differs(watched):
                        for tell in watched.untold:
                            telling.create_task(self._tell(watched, tell))

    async def _differs(self, watched: Watched) -> bool:
        """Whether the list is another one than at the last look, which is remembered."""
        try:
            seen = await _fingerprint(await watched.served.now())
        except (AccessError, NotFound, RequestError):
            return False  # who would not be let in hears nothing
        except Exception as error:  # noqa: BLE001 - it is looked at again with the next change
            _log.warning("a list was not looked at", error=repr(error))
            return False
        before, watched.seen = watched.seen, seen
        return seen != before

    async def _tell(self, watched: Watched, tell: Tell) -> None:
        """Tell one client, once more if the list changed meanwhile."""
        watched.being_told.add(tell)
        told: Hashable = None
        try:
            while told != watched.seen:
                told = watched.seen
                async with asyncio.timeout(self._patience):
                    await tell()
        except TimeoutError:
            _log.debug("client does not listen")
        except Exception as error:  # noqa: BLE001 - one client that is gone must not stop it
            _log.debug("client not told", error=repr(error))
            watched.tells.discard(tell)
        finally:
            watched.being_told.discard(tell)


async def _fingerprint(served: Served) -> Hashable:
    """Differs when the client would see another list; an agent out of reach is one as well."""
    try:
        toolset = await served.toolset()
    except ToolcribError as error:
        return error.code
    tools = tuple((name, tool.spec.fingerprint) for name, tool in toolset.offered.items())
    return tools, toolset.skipped
