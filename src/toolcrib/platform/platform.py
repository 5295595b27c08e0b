"""This module holds the open platform: its parts by name, what it does, and its background work."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping
from datetime import timedelta
from typing import Any

import structlog

from toolcrib.catalog.judging import Rules
from toolcrib.coordination.signals import Topic
from toolcrib.desk.desk import Desk, open_desk
from toolcrib.errors import ToolcribError
from toolcrib.identity.authentication import Authenticator, now
from toolcrib.identity.caller import Caller
from toolcrib.invocation.breaker import Breaker, Patience
from toolcrib.invocation.flight import Outcome, Request
from toolcrib.invocation.ids import new_call_id
from toolcrib.invocation.invoke import Invoker
from toolcrib.invocation.running import Runner
from toolcrib.invocation.steps import standard_steps
from toolcrib.platform.issuer import Issuer
from toolcrib.platform.keys import keys_of
from toolcrib.platform.kinds import package_kinds
from toolcrib.platform.lending import lent_by
from toolcrib.platform.logins import Logins
from toolcrib.platform.rooms import look_after, open_rooms
from toolcrib.platform.tasks import Tasks
from toolcrib.platform.ways_out import WaysOut
from toolcrib.plugin.discovery import Plugins
from toolcrib.plugin.home import Home
from toolcrib.plugin.host import Host
from toolcrib.plugin.registration import Registry
from toolcrib.resolution.defined import DefinedProvider
from toolcrib.resolution.holding import Holding
from toolcrib.resolution.installed import InstalledPackages
from toolcrib.resolution.missing import no_tool
from toolcrib.resolution.offering import InternalProvider, Providers
from toolcrib.resolution.resolve import Resolver
from toolcrib.resolution.searching import Searching
from toolcrib.resolution.servers import ServerProvider
from toolcrib.resolution.toolset import Toolset
from toolcrib.secrets.keyfile import KeyFile
from toolcrib.secrets.memory import Memory
from toolcrib.secrets.sealing import Sealer
from toolcrib.secrets.settings import SettingValues
from toolcrib.secrets.vault import Vault
from toolcrib.settings import Settings
from toolcrib.sources.http.api import ApiKind
from toolcrib.sources.http.files import ChatDocuments
from toolcrib.sources.mcp.connector import McpConnector
from toolcrib.sources.mcp.options import McpOptions
from toolcrib.sources.native.shelf import NativeShelf
from toolcrib.storage import FtsRanking, Storage, open_blobs
from toolcrib.tools.call import AskPerson, Log, Progress, no_log, no_progress

_log = structlog.get_logger(__name__)
PLUGIN_GROUPS = ("toolcrib.tools", "primethink.tools")
BUILTIN_GROUP = "toolcrib.builtin"
"""The entry-point group of the tools in the box."""


class Platform:
    """An open Toolcrib. Make one with `open_platform`.

    Its parts are put together in the order of a tool's life: sources, resolution, invocation, and
    the desk in front of them.
    """

    def __init__(
        self, settings: Settings, storage: Storage, registry: Registry, key_file: KeyFile | None
    ) -> None:
        self.settings = settings
        self.storage = storage
        self.registry = registry
        self.key_file = key_file
        self.tasks = Tasks()
        self.home = Home()
        """The loop that all of this belongs to."""
        self._ready = asyncio.Event()
        self._at_close: list[Callable[[], None]] = []
        self._hold_values()
        self._open_sources()
        self._resolve()
        self._invoke()
        self._open_desk()

    # --- putting together -------------------------------------------------------------------------

    def _hold_values(self) -> None:
        """Settings, secrets and documents."""
        storage, settings = self.storage, self.settings
        self.sealer = Sealer(keys_of(settings, self.key_file))
        self.values = SettingValues(storage.settings, self.sealer)
        self.memory = Memory(lambda: storage.signals.generation("settings"))
        self.vault = Vault(storage.secrets, self.sealer, self.memory)
        self.blobs = open_blobs(
            settings.documents_url.get_secret_value(), folder=settings.data_dir / "documents"
        )

    def _open_sources(self) -> None:
        """Plugins, and what leads out."""
        storage, settings = self.storage, self.settings
        self.host = Host(values=self.values, documents=storage.documents, blobs=self.blobs)
        self.plugins = Plugins(
            self.registry,
            self.host,
            groups=groups_of(settings),
            timeout=settings.plugin_timeout,
        )
        self.shelf = NativeShelf(self.registry, allow_langsmith=settings.allow_langsmith)
        self._ways_out = WaysOut(settings, storage.signals, self.tasks)
        self.client = self._ways_out.client
        self.rooms = open_rooms(settings, self.client)
        self.host.rooms = self.rooms
        self.servers = self._ways_out.servers
        self.stdio_policy = self._ways_out.policy
        self.logins = Logins(
            settings, storage, sealer=self.sealer, sender=self.client, tasks=self.tasks
        )
        self.package_kinds = package_kinds(
            self.client,
            self.vault.get,
            self.memory,
            self.servers,
            self.stdio_policy,
            self.logins.credentials,
        )
        self.api = ApiKind(
            self.client, ChatDocuments(documents=storage.documents, blobs=self.blobs)
        )

    def _resolve(self) -> None:
        """What gives a caller's tools."""
        storage = self.storage
        self.installed = InstalledPackages(storage.packages, self.vault, self.package_kinds)
        self.server_provider = ServerProvider(
            McpConnector(self.servers, self.logins.credentials),
            self.values,
            pinned=self.settings.pins != "off",
        )
        self.providers: Providers = {
            "internal": InternalProvider(self.shelf, self.installed),
            "api": DefinedProvider(self.api, self.values, self.memory),
            "mcp": self.server_provider,
        }
        self.holding = Holding(
            storage.pins,
            Rules(
                policy=self.settings.pins,
                trusts_first_sight=self.settings.pins_first == "accept",
            ),
            lambda: storage.signals.generation("pins"),
        )
        self.resolver = Resolver(
            agents=storage.agents,
            capabilities=storage.capabilities,
            settings=self.values,
            providers=self.providers,
            generation=self.generation,
            names=storage.exposed_names,
            holding=self.holding,
            searching=Searching(FtsRanking(), above=self.settings.tool_search_above),
        )

    def _invoke(self) -> None:
        """What runs a call."""
        settings = self.settings
        self.runner = Runner()
        self.invoker = Invoker(
            standard_steps(
                journal=self.storage.journal,
                runner=self.runner,
                call_timeout=settings.call_timeout,
                result_limit=settings.result_limit,
                memory=self.memory,
                breaker=Breaker(Patience(failures=settings.breaker_failures)),
            ),
            clock=now,
            new_id=new_call_id,
        )

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
            storage,
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
            add_key=self.key_file and self.key_file.add,
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

    def generation(self) -> tuple[int, int]:
        """Numbers of which one rises with every change that a Toolset could show."""
        return self.storage.signals.total, self.registry.version

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
            for report in await self.plugins.load():
                if report.status == "failed":
                    _log.warning("plugin failed", plugin=report.name, error=report.error)
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


def groups_of(settings: Settings) -> tuple[str, ...]:
    """The entry-point groups that are looked at."""
    builtin = (BUILTIN_GROUP,) if settings.builtin_tools else ()
    return (*builtin, *PLUGIN_GROUPS, *settings.plugin_groups)
