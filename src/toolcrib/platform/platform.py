"""This module holds the open platform: its desk, what it does, and its background work."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping
from datetime import timedelta
from typing import Any

import structlog

from toolcrib.coordination.signals import Topic
from toolcrib.desk.desk import Desk
from toolcrib.desk.opening import open_desk
from toolcrib.desk.parts import Parts
from toolcrib.errors import ToolcribError
from toolcrib.identity.authentication import Authenticator, now
from toolcrib.identity.caller import Caller
from toolcrib.invocation.flight import Outcome, Request
from toolcrib.platform.issuer import Issuer
from toolcrib.platform.lending import lent_by
from toolcrib.platform.parts import PlatformParts
from toolcrib.platform.rooms import look_after
from toolcrib.plugin.registration import Registry
from toolcrib.resolution.missing import no_tool
from toolcrib.resolution.toolset import Toolset
from toolcrib.secrets.keyfile import KeyFile
from toolcrib.settings import Settings
from toolcrib.sources.mcp.options import McpOptions
from toolcrib.storage import Storage
from toolcrib.tools.call import AskPerson, Log, Progress, no_log, no_progress

_log = structlog.get_logger(__name__)


class Platform(PlatformParts):
    """An open Toolcrib. Make one with `open_platform`."""

    def __init__(
        self, settings: Settings, storage: Storage, registry: Registry, key_file: KeyFile | None
    ) -> None:
        super().__init__(settings, storage, registry, key_file)
        self._ready = asyncio.Event()
        self._at_close: list[Callable[[], None]] = []
        self._open_desk()

    def _open_desk(self) -> None:
        """Who asks, and what they may ask for."""
        storage = self.storage
        self._issuer = Issuer(self.settings, storage)
        self.authenticator = Authenticator(
            users=storage.users,
            groups=storage.groups,
            tokens=storage.tokens,
            generation=lambda: storage.signals.generation("identity"),
            clock=now,
            arrivals=self._issuer.arrivals,
        )
        self.desk: Desk = open_desk(
            Parts(
                stores=storage,
                values=self.values,
                blobs=self.blobs,
                registry=self.registry,
                plugins=self.plugins,
                shelf=self.shelf,
                resolver=self.resolver,
                invoke=self.invoke,
                vault=self.vault,
                kinds=self.package_kinds,
                installed=self.installed,
                run=self.invoker.invoke,
                fetch=self._ways_out.fetch,
                clock=now,
                capability_kinds={"internal": None, "api": self.api, "mcp": McpOptions()},
                environment=self.settings.environment,
                servers=self.server_provider,
                holding=self.holding,
                providers=self.providers,
                chat_ended=self.rooms.end,
                logins=self.logins.parts,
                sealer=self.sealer,
                call_timeout=self.settings.call_timeout,
                add_key=self.key_file and self.key_file.add,
            )
        )
        self.host.lent = lent_by(self)

    # --- what it does -----------------------------------------------------------------------------

    async def resolve(self, agent_id: int, caller: Caller) -> Toolset:
        """What the caller gets from the agent now. Raises NotFound, GroupRequired."""
        _, toolset = await self.resolver.for_agent(agent_id, caller)
        return toolset

    async def invoke(
        self,
        agent_id: int,
        name: str,
        arguments: object,
        caller: Caller,
        *,
        surface: str = "python",
        timeout: float | None = None,  # noqa: ASYNC109 - the deadline is the call's, not this task's
        progress: Progress = no_progress,
        log: Log = no_log,
        ask: AskPerson | None = None,
        configurable: Mapping[str, Any] | None = None,
    ) -> Outcome:
        """Call a tool of an agent by the name the agent sees.

        Raises NotFound when the agent or the tool is not within the caller's reach; whatever the
        tool does is an Outcome. `timeout` is in seconds and can only shorten the deadline.
        """
        acting, toolset = await self.resolver.for_agent(agent_id, caller)
        tool = toolset.find(name)
        if tool is None and await self.servers.settle(acting.user_id, acting.group_id):
            acting, toolset = await self.resolver.for_agent(agent_id, caller)
            tool = toolset.find(name)
        if tool is None:
            known = await self.storage.exposed_names.known(agent_id)
            raise no_tool(agent_id, name, toolset, known)
        return await self.invoker.invoke(
            Request(
                tool=tool,
                caller=acting,
                arguments=arguments,
                agent_id=agent_id,
                surface=surface,
                timeout=timeout,
                progress=progress,
                log=log,
                ask=ask,
                configurable=configurable or {},
            )
        )

    # --- its life ---------------------------------------------------------------------------------

    @property
    def ready(self) -> bool:
        """Whether plugins and sources were loaded once, with or without failures."""
        return self._ready.is_set()

    async def wait_ready(self) -> None:
        await self._ready.wait()

    def listen(self) -> None:
        """Do what changes ask for, be they this process's or another's."""
        self.storage.signals.subscribe(self._on_change)

    async def start(self) -> None:
        """Begin the background work: following other processes, loading plugins, pruning."""
        signals = self.storage.signals
        await signals.refresh()
        self.tasks.spawn(signals.run())
        self.tasks.spawn(self.load_plugins())
        self.tasks.spawn(self.servers.run())
        self.tasks.spawn(self.logins.run())
        self.tasks.spawn(look_after(self.rooms, self.storage.chats))
        self.tasks.spawn(self._warm())
        if self.settings.journal_days:
            self.tasks.spawn(self._prune())

    def at_close(self, work: Callable[[], None]) -> None:
        """Do this when the platform begins to close."""
        self._at_close.append(work)

    async def close(self) -> None:
        """Stop the background work, end what runs, write what is queued."""
        while self._at_close:
            self._at_close.pop()()
        await self.servers.close()
        await self.rooms.close()
        await self.logins.close()
        await self.tasks.close()
        await self.runner.close()
        await self.client.close()
        await self._issuer.close()
        await self.blobs.close()
        await self.storage.close()

    async def load_plugins(self) -> None:
        """Load every plugin once; afterwards the platform is ready, whatever failed."""
        try:
            await self.plugins.load()
        finally:
            self._ready.set()
        await self.shelf.warm()

    async def _warm(self) -> None:
        """Load what the first request to somebody else needs, once there is time for it."""
        await self.wait_ready()
        await self.client.warm()

    async def _prune(self) -> None:
        age = timedelta(days=self.settings.journal_days)
        while True:
            try:
                await self.storage.journal.prune(older_than=now() - age)
            except ToolcribError as error:
                _log.warning("old calls stay for now", error=str(error))
            await asyncio.sleep(3600)

    async def _on_change(self, topic: Topic) -> None:
        if topic == "settings":
            self.memory.forget()
        if topic == "plugins":
            await self.plugins.reload()
