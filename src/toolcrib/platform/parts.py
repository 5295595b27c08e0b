"""This module puts the parts of an open platform together, in the order of a tool's life."""

from __future__ import annotations

from toolcrib.catalog.judging import Rules
from toolcrib.identity.authentication import now
from toolcrib.invocation.breaker import Breaker, Patience
from toolcrib.invocation.ids import new_call_id
from toolcrib.invocation.invoke import Invoker
from toolcrib.invocation.running import Runner
from toolcrib.invocation.steps import standard_steps
from toolcrib.platform.keys import keys_of
from toolcrib.platform.kinds import package_kinds
from toolcrib.platform.logins import Logins
from toolcrib.platform.rooms import open_rooms
from toolcrib.platform.tasks import Tasks
from toolcrib.platform.ways_out import WaysOut
from toolcrib.plugin.discovery import Plugins
from toolcrib.plugin.home import Home
from toolcrib.plugin.host import Host
from toolcrib.plugin.registration import Registry
from toolcrib.resolution.defined import DefinedProvider
from toolcrib.resolution.holding import Holding
from toolcrib.resolution.installed import InstalledPackages
from toolcrib.resolution.offering import InternalProvider, Providers
from toolcrib.resolution.resolve import Resolver
from toolcrib.resolution.searching import Searching
from toolcrib.resolution.servers import ServerProvider
from toolcrib.secrets.keyfile import KeyFile
from toolcrib.secrets.memory import Memory
from toolcrib.secrets.sealing import Sealer
from toolcrib.secrets.settings import SettingValues
from toolcrib.secrets.vault import Vault
from toolcrib.settings import Settings
from toolcrib.sources.http.api import ApiKind
from toolcrib.sources.http.files import ChatDocuments
from toolcrib.sources.mcp.connector import McpConnector
from toolcrib.sources.native.shelf import NativeShelf
from toolcrib.storage import FtsRanking, Storage, open_blobs

PLUGIN_GROUPS = ("toolcrib.tools", "primethink.tools")
BUILTIN_GROUP = "toolcrib.builtin"
"""The entry-point group of the tools in the box."""


class PlatformParts:
    """All of a platform but its desk: values, sources, resolution, invocation."""

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
        self._hold_values()
        self._open_sources()
        self._resolve()
        self._invoke()

    def generation(self) -> tuple[int, int]:
        """Numbers of which one rises with every change that a Toolset could show."""
        return self.storage.signals.total, self.registry.version

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
        self.rooms = open_rooms(settings, self.client, storage.chats)
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


def groups_of(settings: Settings) -> tuple[str, ...]:
    """The entry-point groups that are looked at."""
    builtin = (BUILTIN_GROUP,) if settings.builtin_tools else ()
    return (*builtin, *PLUGIN_GROUPS, *settings.plugin_groups)
