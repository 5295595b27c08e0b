"""This module says what the desk is made of: the stores, and the parts of an open installation."""

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
from toolcrib.desk.chats import ChatEnded
from toolcrib.desk.connections import LoginParts
from toolcrib.desk.drafts import CapabilityKinds
from toolcrib.desk.packages import Fetch, Run
from toolcrib.desk.replying import Invoke
from toolcrib.documents.document import BlobStore, DocumentStore
from toolcrib.grants.agents import AgentStore
from toolcrib.identity.accounts import GroupStore, TokenStore, UserStore
from toolcrib.identity.context import Environment
from toolcrib.invocation.journal import Journal
from toolcrib.invocation.repeats import RepeatStore
from toolcrib.plugin.discovery import Plugins
from toolcrib.plugin.registration import Registry
from toolcrib.resolution.holding import Holding
from toolcrib.resolution.installed import InstalledPackages, PackageKinds
from toolcrib.resolution.offering import Providers, Shelf
from toolcrib.resolution.resolve import Resolver
from toolcrib.resolution.servers import ServerProvider
from toolcrib.secrets.sealing import Sealer
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
    def repeats(self) -> RepeatStore: ...
    @property
    def signals(self) -> Signals: ...


@dataclass(frozen=True, kw_only=True, slots=True)
class Parts:
    """What the nouns are made of. `capability_kinds` are the types that have a source here;
    `add_key` makes a new vault key where the keys are ours to make; `call_timeout` is a call's
    deadline in seconds."""

    stores: Stores
    values: SettingValues
    blobs: BlobStore
    registry: Registry
    plugins: Plugins
    shelf: Shelf
    resolver: Resolver
    invoke: Invoke
    vault: Vault
    kinds: PackageKinds
    installed: InstalledPackages
    run: Run
    fetch: Fetch
    clock: Callable[[], datetime]
    capability_kinds: CapabilityKinds
    environment: Environment
    servers: ServerProvider
    holding: Holding
    providers: Providers
    chat_ended: ChatEnded
    logins: LoginParts
    sealer: Sealer
    call_timeout: float
    add_key: Callable[[], None] | None = None
