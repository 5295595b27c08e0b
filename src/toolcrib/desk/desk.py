"""This module holds the desk: one attribute a noun, each with its verbs."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime
from typing import Protocol

from toolcrib.agents.chats import ChatStore
from toolcrib.agents.tasks import TaskStore
from toolcrib.catalog.capabilities import CapabilityStore
from toolcrib.catalog.packages import PackageStore
from toolcrib.catalog.pins import PinStore
from toolcrib.coordination.signals import Signals
from toolcrib.desk.agents import Agents
from toolcrib.desk.calls import Calls
from toolcrib.desk.capabilities import Capabilities
from toolcrib.desk.chats import ChatEnded, Chats
from toolcrib.desk.connections import Connections, LoginParts
from toolcrib.desk.documents import Documents
from toolcrib.desk.drafts import CapabilityKinds
from toolcrib.desk.entering import Entrance
from toolcrib.desk.groups import Groups
from toolcrib.desk.login_places import LoginPlaces
from toolcrib.desk.packages import Fetch, InstalledTools, Run
from toolcrib.desk.pins import Pins
from toolcrib.desk.pins_looking import PinLooking
from toolcrib.desk.plugins import LoadedPlugins
from toolcrib.desk.replying import Invoke, Replying
from toolcrib.desk.secrets import StoredSecrets
from toolcrib.desk.server_packages import PackageServers
from toolcrib.desk.servers import McpServers
from toolcrib.desk.settings import StoredSettings
from toolcrib.desk.tokens import Tokens
from toolcrib.desk.tools import Tools
from toolcrib.desk.users import Users
from toolcrib.documents.document import BlobStore, DocumentStore
from toolcrib.grants.agents import AgentStore
from toolcrib.identity.accounts import GroupStore, TokenStore, UserStore
from toolcrib.identity.context import Environment
from toolcrib.invocation.journal import Journal
from toolcrib.plugin.discovery import Plugins
from toolcrib.plugin.registration import Registry
from toolcrib.resolution.holding import Holding
from toolcrib.resolution.installed import InstalledPackages, PackageKinds
from toolcrib.resolution.offering import Providers, Shelf
from toolcrib.resolution.resolve import Resolver
from toolcrib.resolution.servers import ServerProvider
from toolcrib.secrets.settings import SettingValues
from toolcrib.secrets.vault import Vault


class Stores(Protocol):
    """The open storage, as the desk needs it."""

    @property
    def groups(self) -> GroupStore: ...
    @property
    def users(self) -> UserStore: ...
    @property
    def tokens(self) -> TokenStore: ...
    @property
    def capabilities(self) -> CapabilityStore: ...
    @property
    def agents(self) -> AgentStore: ...
    @property
    def packages(self) -> PackageStore: ...
    @property
    def pins(self) -> PinStore: ...
    @property
    def chats(self) -> ChatStore: ...
    @property
    def tasks(self) -> TaskStore: ...
    @property
    def documents(self) -> DocumentStore: ...
    @property
    def journal(self) -> Journal: ...
    @property
    def signals(self) -> Signals: ...


@dataclass(frozen=True, kw_only=True, slots=True)
class Desk:
    """Everything that a caller may ask for; every first argument is the Caller."""

    groups: Groups
    users: Users
    tokens: Tokens
    settings: StoredSettings
    secrets: StoredSecrets
    packages: InstalledTools
    capabilities: Capabilities
    agents: Agents
    chats: Chats
    documents: Documents
    calls: Calls
    plugins: LoadedPlugins
    tools: Tools
    servers: McpServers
    connections: Connections
    pins: Pins
    pins_looking: PinLooking


def open_desk(
    stores: Stores,
    *,
    values: SettingValues,
    blobs: BlobStore,
    registry: Registry,
    plugins: Plugins,
    shelf: Shelf,
    resolver: Resolver,
    invoke: Invoke,
    vault: Vault,
    kinds: PackageKinds,
    installed: InstalledPackages,
    run: Run,
    fetch: Fetch,
    clock: Callable[[], datetime],
    capability_kinds: CapabilityKinds,
    environment: Environment,
    servers: ServerProvider,
    holding: Holding,
    providers: Providers,
    chat_ended: ChatEnded,
    logins: LoginParts,
    add_key: Callable[[], None] | None = None,
) -> Desk:
    """Put the nouns together. `capability_kinds` are the types that have a source here;
    `add_key` makes a new vault key where the keys are ours to make."""
    signals = stores.signals
    entrance = Entrance(chats=stores.chats, environment=environment)
    pins = Pins(
        pins=stores.pins,
        capabilities=stores.capabilities,
        rules=holding.rules,
        signals=signals,
    )
    capabilities = Capabilities(
        capabilities=stores.capabilities,
        groups=stores.groups,
        registry=registry,
        kinds=capability_kinds,
        signals=signals,
        pins=pins,
    )
    return Desk(
        groups=Groups(groups=stores.groups, signals=signals),
        users=Users(users=stores.users, signals=signals),
        tokens=Tokens(
            tokens=stores.tokens,
            users=stores.users,
            agents=stores.agents,
            signals=signals,
            clock=clock,
        ),
        settings=StoredSettings(
            values=values,
            vault=vault,
            groups=stores.groups,
            signals=signals,
            add_key=add_key,
            rotate_logins=logins.rotate,
        ),
        secrets=StoredSecrets(vault=vault, packages=stores.packages, signals=signals),
        packages=InstalledTools(
            packages=stores.packages,
            vault=vault,
            kinds=kinds,
            installed=installed,
            signals=signals,
            fetch=fetch,
            run=run,
            clock=clock,
            pins=pins,
        ),
        capabilities=capabilities,
        connections=Connections(
            places=LoginPlaces(
                capabilities=capabilities,
                agents=stores.agents,
                packages=stores.packages,
                kinds=kinds,
                provider=servers,
            ),
            parts=logins,
            users=stores.users,
            clock=clock,
        ),
        servers=McpServers(
            capabilities=capabilities,
            packages=PackageServers(
                packages=stores.packages,
                kinds=kinds,
                installed=installed,
                agents=stores.agents,
                capabilities=capabilities,
                holding=holding,
            ),
            provider=servers,
            holding=holding,
        ),
        pins=pins,
        pins_looking=PinLooking(
            holding=holding,
            pins=stores.pins,
            capabilities=stores.capabilities,
            packages=stores.packages,
            values=values,
            providers=providers,
            servers=servers,
            installed=installed,
            shelf=shelf,
            signals=signals,
        ),
        agents=Agents(
            agents=stores.agents,
            capabilities=stores.capabilities,
            documents=stores.documents,
            blobs=blobs,
            packages=stores.packages,
            signals=signals,
            known=shelf,
        ),
        chats=Chats(
            chats=stores.chats,
            tasks=stores.tasks,
            documents=stores.documents,
            blobs=blobs,
            entrance=entrance,
            resolver=resolver,
            replying=Replying(chats=stores.chats, resolver=resolver, invoke=invoke),
            ended=chat_ended,
        ),
        documents=Documents(documents=stores.documents, blobs=blobs, entrance=entrance),
        calls=Calls(journal=stores.journal),
        plugins=LoadedPlugins(plugins=plugins, signals=signals),
        tools=Tools(
            resolver=resolver,
            invoke=invoke,
            entrance=entrance,
            users=stores.users,
            shelf=shelf,
        ),
    )
