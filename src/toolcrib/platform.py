"""This module is the composition root: it opens every part, gives each what it needs, and closes
them in reverse. Nothing else picks storage, and no other module starts background work."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Coroutine, Generator, Mapping
from dataclasses import dataclass, replace
from datetime import timedelta
from types import TracebackType
from typing import TYPE_CHECKING, Any
from urllib.parse import quote

import structlog

from toolcrib.coordination.signals import Topic
from toolcrib.desk.desk import Desk, open_desk
from toolcrib.errors import NotFound, SetupError, SourceProtocolError, ToolcribError
from toolcrib.identity.authentication import Authenticator, now
from toolcrib.identity.caller import Caller
from toolcrib.invocation.breaker import Breaker, Patience
from toolcrib.invocation.flight import Outcome, Request
from toolcrib.invocation.ids import new_call_id
from toolcrib.invocation.invoke import Invoker
from toolcrib.invocation.running import Runner
from toolcrib.invocation.steps import standard_steps
from toolcrib.net.client import GuardedClient
from toolcrib.net.guard import EgressPolicy
from toolcrib.plugin.discovery import Plugins
from toolcrib.plugin.home import Home
from toolcrib.plugin.host import Host
from toolcrib.plugin.registration import Registry, default_registry
from toolcrib.resolution.defined import DefinedProvider
from toolcrib.resolution.installed import InstalledPackages, PackageKinds
from toolcrib.resolution.offering import InternalProvider, Providers
from toolcrib.resolution.resolve import Resolver
from toolcrib.resolution.servers import ServerProvider
from toolcrib.resolution.toolset import Toolset
from toolcrib.secrets.keyfile import KeyFile
from toolcrib.secrets.memory import Memory
from toolcrib.secrets.sealing import Sealer
from toolcrib.secrets.settings import SettingValues
from toolcrib.secrets.vault import Vault
from toolcrib.settings import Settings
from toolcrib.sources.http.api import ApiKind
from toolcrib.sources.http.binding import SecretLookup
from toolcrib.sources.http.files import ChatDocuments
from toolcrib.sources.http.packages import PackageKind
from toolcrib.sources.mcp.connector import McpConnector
from toolcrib.sources.mcp.options import McpOptions
from toolcrib.sources.mcp.packages import McpPackageKind
from toolcrib.sources.mcp.policy import StdioPolicy
from toolcrib.sources.mcp.pool import Pool
from toolcrib.sources.native.shelf import NativeShelf
from toolcrib.storage import Storage, open_blobs, open_storage
from toolcrib.tools.call import Progress, no_progress

if TYPE_CHECKING:
    from toolcrib.net.streaming import StreamingClients

_log = structlog.get_logger(__name__)
IMPORT_LIMIT = 1024 * 1024
"""The most bytes of a document that is imported from an address."""
PLUGIN_GROUPS = ("toolcrib.tools", "primethink.tools")


class Platform:
    """An open Toolcrib. Make one with `open_platform`."""

    def __init__(
        self, settings: Settings, storage: Storage, registry: Registry, key_file: KeyFile | None
    ) -> None:
        self.settings = settings
        self.storage = storage
        self.registry = registry
        self.key_file = key_file
        self.runner = Runner()
        self.sealer = Sealer(_keys(settings, key_file))
        self.values = SettingValues(storage.settings, self.sealer)
        self.blobs = open_blobs(
            settings.documents_url.get_secret_value(), folder=settings.data_dir / "documents"
        )
        self.host = Host(values=self.values, documents=storage.documents, blobs=self.blobs)
        self.plugins = Plugins(
            registry,
            self.host,
            groups=PLUGIN_GROUPS + settings.plugin_groups,
            timeout=settings.plugin_timeout,
        )
        self.shelf = NativeShelf(registry, allow_langsmith=settings.allow_langsmith)
        self.memory = Memory(lambda: storage.signals.generation("settings"))
        self.vault = Vault(storage.secrets, self.sealer, self.memory)
        self.client = GuardedClient(
            EgressPolicy(settings.egress_allow), proxy=settings.egress_proxy.get_secret_value()
        )
        self._tasks: set[asyncio.Task[None]] = set()
        self._streams: StreamingClients | None = None
        self.stdio_policy = StdioPolicy(settings.stdio_allow)
        self.servers = Pool(
            clients=self._streaming_clients,
            poster=self.client,
            policy=self.stdio_policy,
            spawn=self._spawn,
            changed=self._tell_of_servers,
        )
        self.package_kinds = package_kinds(
            self.client, self.vault.get, self.memory, self.servers, self.stdio_policy
        )
        self.installed = InstalledPackages(storage.packages, self.vault, self.package_kinds)
        api = ApiKind(self.client, ChatDocuments(documents=storage.documents, blobs=self.blobs))
        servers = ServerProvider(McpConnector(self.servers), self.values)
        self.providers: Providers = {
            "internal": InternalProvider(self.shelf, self.installed),
            "api": DefinedProvider(api, self.values, self.memory),
            "mcp": servers,
        }
        self.resolver = Resolver(
            agents=storage.agents,
            capabilities=storage.capabilities,
            settings=self.values,
            providers=self.providers,
            generation=self.generation,
            names=storage.exposed_names,
        )
        self.invoker = Invoker(
            standard_steps(
                journal=storage.journal,
                runner=self.runner,
                call_timeout=settings.call_timeout,
                result_limit=settings.result_limit,
                memory=self.memory,
                breaker=Breaker(Patience(failures=settings.breaker_failures)),
            ),
            clock=now,
            new_id=new_call_id,
        )
        self.authenticator = Authenticator(
            users=storage.users,
            groups=storage.groups,
            tokens=storage.tokens,
            generation=lambda: storage.signals.generation("identity"),
            clock=now,
        )
        self.desk: Desk = open_desk(
            storage,
            values=self.values,
            blobs=self.blobs,
            registry=registry,
            plugins=self.plugins,
            shelf=self.shelf,
            resolver=self.resolver,
            invoke=self.invoke,
            vault=self.vault,
            kinds=self.package_kinds,
            installed=self.installed,
            run=self.invoker.invoke,
            fetch=self._fetch,
            clock=now,
            capability_kinds={"internal": None, "api": api, "mcp": McpOptions()},
            environment=settings.environment,
            servers=servers,
            add_key=key_file and key_file.add,
        )
        self.home = Home()
        """The loop that all of this belongs to."""
        self._bumping: asyncio.Task[None] | None = None
        self._ready = asyncio.Event()

    @property
    def ready(self) -> bool:
        """Whether plugins and sources were loaded once, with or without failures."""
        return self._ready.is_set()

    async def wait_ready(self) -> None:
        await self._ready.wait()

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
        configurable: Mapping[str, Any] | None = None,
    ) -> Outcome:
        """Call a tool of an agent by the name the agent sees.

        Raises NotFound when the agent or the tool is not within the caller's reach; whatever the
        tool does is an Outcome. `timeout` is in seconds and can only shorten the deadline.
        """
        acting, toolset = await self.resolver.for_agent(agent_id, caller)
        tool = toolset.tools.get(name)
        if tool is None and await self.servers.settle(acting.user_id, acting.group_id):
            acting, toolset = await self.resolver.for_agent(agent_id, caller)
            tool = toolset.tools.get(name)
        if tool is None:
            raise NotFound(
                f"Agent {agent_id} has no tool {name!r} for you.",
                hint=f"GET /api/v1/explain?agent={agent_id}&tool={quote(name, safe='')} says why.",
            )
        return await self.invoker.invoke(
            Request(
                tool=tool,
                caller=acting,
                arguments=arguments,
                agent_id=agent_id,
                surface=surface,
                timeout=timeout,
                progress=progress,
                configurable=configurable or {},
            )
        )

    def listen(self) -> None:
        """Do what changes ask for, be they this process's or another's."""
        self.storage.signals.subscribe(self._on_change)

    async def _fetch(self, url: str) -> str:
        """The text behind an https address, for a person's import."""
        answer = await self.client.request(
            "GET", url, timeout=30.0, limit=IMPORT_LIMIT, follow_redirects=True
        )
        if not answer.ok or answer.truncated:
            what = f"HTTP {answer.status}" if not answer.ok else f"more than {IMPORT_LIMIT} bytes"
            raise SourceProtocolError(f"The address answered {what}.", where="url")
        return answer.text()

    async def start(self) -> None:
        """Begin the background work: following other processes, loading plugins, pruning."""
        signals = self.storage.signals
        await signals.refresh()
        self._spawn(signals.run())
        self._spawn(self.load_plugins())
        self._spawn(self.servers.run())
        if self.settings.journal_days:
            self._spawn(self._prune())

    async def close(self) -> None:
        """Stop the background work, end what runs, write what is queued."""
        if self in _open:
            _open.remove(self)
        await self.servers.close()
        for task in self._tasks:
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)
        await self.runner.close()
        await self.client.close()
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

    def generation(self) -> tuple[int, int]:
        """Numbers of which one rises with every change that a Toolset could show."""
        return self.storage.signals.total, self.registry.version

    def _streaming_clients(self) -> StreamingClients:
        """Made when the first server is connected to: most installations start without one."""
        if self._streams is None:
            from toolcrib.net.streaming import StreamingClients  # noqa: PLC0415 - as said above

            self._streams = StreamingClients(
                self.client.guard, proxy=self.settings.egress_proxy.get_secret_value()
            )
        return self._streams

    def _tell_of_servers(self) -> None:
        """What was shown of a server is not so any more: Toolsets are made anew, once for many."""
        if self._bumping is None or self._bumping.done():
            self._bumping = self._spawn(self._bump_servers())

    async def _bump_servers(self) -> None:
        try:
            await self.storage.signals.bump("mcp")
        except ToolcribError as error:
            _log.warning("a change of servers is not told", error=str(error))

    def _spawn(self, work: Coroutine[Any, Any, None]) -> asyncio.Task[None]:
        task = asyncio.get_running_loop().create_task(work)
        self._tasks.add(task)
        task.add_done_callback(self._report)
        return task

    def _report(self, task: asyncio.Task[None]) -> None:
        self._tasks.discard(task)
        if not task.cancelled() and (error := task.exception()) is not None:
            _log.error("background work ended", error=repr(error))


class Opening:
    """Both `await open_platform(…)` and `async with open_platform(…) as platform` work."""

    def __init__(
        self, settings: Settings, registry: Registry, *, wait_ready: bool, background: bool
    ) -> None:
        self._settings = settings
        self._registry = registry
        self._wait_ready = wait_ready
        self._background = background
        self._platform: Platform | None = None

    def __await__(self) -> Generator[Any, None, Platform]:
        return self._open().__await__()

    async def __aenter__(self) -> Platform:
        self._platform = await self._open()
        return self._platform

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        if self._platform is not None:
            await self._platform.close()

    async def _open(self) -> Platform:
        settings = self._settings
        given = settings.vault_keys.get_secret_value()
        key_file = None if given else KeyFile(settings.data_dir / "vault.key")
        storage = await open_storage(settings.database)
        try:
            platform = Platform(settings, storage, self._registry, key_file)
            platform.listen()
            if not self._background:  # nobody would hear of a server that answers later
                limits = platform.servers.limits
                platform.servers.limits = replace(limits, patience=limits.opening)
            if self._background:
                await platform.start()
            elif self._wait_ready:
                await platform.load_plugins()
        except BaseException:
            await storage.close()
            raise
        if self._wait_ready:
            await platform.wait_ready()
        _open.append(platform)
        return platform


def open_platform(
    settings: Settings | None = None,
    *,
    registry: Registry | None = None,
    wait_ready: bool = True,
    background: bool = True,
) -> Opening:
    """Open Toolcrib in this process.

    Without `settings` they are read from the environment (`TOOLCRIB_*`). With `wait_ready` it
    returns once plugins were loaded, whether or not all of them could be. Without `background`
    nothing runs beside the caller, for one errand: other processes' changes are not followed, old
    calls are not pruned, and plugins are loaded only for `wait_ready`.
    """
    return Opening(
        settings or Settings(),
        registry or default_registry(),
        wait_ready=wait_ready,
        background=background,
    )


def package_kinds(
    sender: GuardedClient,
    secret: SecretLookup,
    memory: Memory | None = None,
    servers: Pool | None = None,
    policy: StdioPolicy | None = None,
) -> PackageKinds:
    """The types of packages that this version can run.

    Without `servers` packages of servers can be checked and not called.
    """
    pool = servers or _no_servers(sender)
    kinds = ("mcp_server", "mcp_sse", "mcp_streamable_http", "mcp_stdio")
    return {
        "http": PackageKind(sender, secret, memory),
        **{kind: McpPackageKind(kind, pool, secret, policy) for kind in kinds},
    }


def _no_servers(sender: GuardedClient) -> Pool:
    def refuse(*_: object) -> Any:
        raise SetupError("No server is connected to here.", hint="Open a platform.")

    return Pool(
        clients=refuse,
        poster=sender,
        policy=StdioPolicy(),
        spawn=refuse,
        changed=lambda: None,
    )


_open: list[Platform] = []


def current_platform() -> Platform | None:
    """The platform that this process opened last and has not closed."""
    return _open[-1] if _open else None


@dataclass(frozen=True, kw_only=True, slots=True)
class Bare:
    """What calls need where nothing is stored: registered tools, and the steps but the journal."""

    providers: Providers
    invoker: Invoker
    settings: Settings


def bare(registry: Registry | None = None) -> Bare:
    """Parts for code that uses registered tools without a database, users or grants."""
    settings = Settings()
    shelf = NativeShelf(registry or default_registry(), allow_langsmith=settings.allow_langsmith)
    return Bare(
        providers={"internal": InternalProvider(shelf)},
        invoker=Invoker(
            standard_steps(
                journal=None,
                runner=Runner(),
                call_timeout=settings.call_timeout,
                result_limit=settings.result_limit,
            ),
            clock=now,
            new_id=new_call_id,
        ),
        settings=settings,
    )


def _keys(settings: Settings, key_file: KeyFile | None) -> Callable[[], tuple[str, ...]]:
    if key_file is not None:
        return lambda: tuple(key_file.keys())
    given = settings.vault_keys.get_secret_value()
    keys = tuple(part.strip() for part in given.split(",") if part.strip())
    return lambda: keys
