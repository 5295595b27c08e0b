"""This module keeps the servers that are spoken to, each for one user and group.

A server is another one when its definition, its version or any value that fills it is another;
what the older one had open is closed then. Keys hold hashes, never values.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from importlib import import_module
from typing import TYPE_CHECKING

from toolcrib.sources.mcp.conversation import Conversation
from toolcrib.sources.mcp.limits import Limits
from toolcrib.sources.mcp.plain import PlainConversation, Poster
from toolcrib.sources.mcp.policy import StdioPolicy
from toolcrib.sources.mcp.servers import HttpServer, Server, StdioServer, digest
from toolcrib.sources.mcp.upstream import Spawn, State, Upstream

if TYPE_CHECKING:
    from toolcrib.net.streaming import StreamingClients

_TICK = 0.5


@dataclass(frozen=True, kw_only=True, slots=True)
class Key:
    """Whose server it is."""

    ref: str
    user_id: int
    group_id: int | None


@dataclass(frozen=True, kw_only=True, slots=True)
class Entry:
    """A server that is kept. `identity` is its version and a hash of what fills it."""

    key: Key
    label: str
    identity: tuple[int, str]
    upstream: Upstream


class Pool:
    """Run `run` in the background and `close` it in the end.

    `clients` makes the HTTP clients when the first is needed. `changed` is called whenever what
    was shown of a server is not so any more. Without `lean` every call is made by the protocol
    library.
    """

    def __init__(
        self,
        *,
        clients: Callable[[], StreamingClients],
        poster: Poster,
        policy: StdioPolicy,
        spawn: Spawn,
        changed: Callable[[], None],
        limits: Limits | None = None,
        lean: bool = True,
    ) -> None:
        self.limits = limits or Limits()
        self.lean = lean
        self._clients = clients
        self._poster = poster
        self._policy = policy
        self._spawn = spawn
        self._changed = changed
        self._entries: dict[Key, Entry] = {}
        self._prepared = False

    def upstream(self, key: Key, server: Server, *, version: int, label: str) -> Upstream:
        """The one kept for the key, made anew when the server is another."""
        identity = (version, digest(server))
        entry = self._entries.get(key)
        if entry is not None and entry.identity == identity:
            return entry.upstream
        if entry is not None:
            self._spawn(entry.upstream.close())
        made = Upstream(
            server,
            open_=self._open,
            spawn=self._spawn,
            limits=self.limits,
            changed=self._changed,
            clock=time.time,
        )
        self._entries[key] = Entry(key=key, label=label, identity=identity, upstream=made)
        return made

    async def prepare(self) -> None:
        """Load what speaks the protocol: half a second that must not stop the loop."""
        if not self._prepared:
            await asyncio.to_thread(import_module, "toolcrib.sources.mcp.connection")
            self._prepared = True

    def states(self) -> Sequence[tuple[Entry, State]]:
        """Every server that is kept, and how it is."""
        return [(entry, entry.upstream.state) for entry in self._entries.values()]

    def find(self, ref: str) -> Sequence[Entry]:
        """The servers of one definition, for whomever they are kept."""
        return [entry for key, entry in self._entries.items() if key.ref == ref]

    async def settle(self, user_id: int, group_id: int | None) -> bool:
        """Wait for the servers of somebody that are being connected to; whether there were any."""
        waiting = [
            entry.upstream
            for entry in self._entries.values()
            if entry.key.user_id in {user_id, 0}
            and entry.upstream.state.status == "connecting"
            and entry.key.group_id in {group_id, None}
        ]
        await asyncio.gather(*(one.look(self.limits.opening) for one in waiting))
        return bool(waiting)

    async def forget(self, ref: str) -> None:
        """Close what is kept of a definition."""
        for entry in self.find(ref):
            del self._entries[entry.key]
            await entry.upstream.close()

    async def run(self) -> None:
        """Look after all of them until cancelled."""
        while True:
            await asyncio.sleep(_TICK)
            now = time.monotonic()
            for entry in list(self._entries.values()):
                entry.upstream.wake()
                idle = now - entry.upstream.used_at
                if idle > self.limits.forgotten and not entry.upstream.in_use:
                    del self._entries[entry.key]
                    self._spawn(entry.upstream.close())

    async def close(self) -> None:
        entries, self._entries = list(self._entries.values()), {}
        await asyncio.gather(*(entry.upstream.close() for entry in entries))

    def _open(self, server: Server, changed: Callable[[], None]) -> Conversation:
        if isinstance(server, HttpServer) and server.wire == "jsonrpc":
            return PlainConversation(server, self._poster)
        if isinstance(server, StdioServer):
            server = _started(server, self._policy)
        from toolcrib.sources.mcp.connection import Connection  # noqa: PLC0415 - see `prepare`

        return Connection(server, self._clients(), self.limits, changed, lean=self.lean)


def _started(server: StdioServer, policy: StdioPolicy) -> StdioServer:
    return StdioServer(
        command=policy.resolved(server.command),
        args=server.args,
        env=server.env,
        timeout=server.timeout,
        private=server.private,
        walls=policy.walls,
    )
