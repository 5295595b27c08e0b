"""This module opens a database with everything in it: the stores, the journal, the signals."""

from __future__ import annotations

from dataclasses import dataclass, field

from toolcrib.agents.chats import ChatStore
from toolcrib.agents.memories import MemoryStore
from toolcrib.agents.tasks import TaskStore
from toolcrib.catalog.capabilities import CapabilityStore
from toolcrib.catalog.packages import PackageStore
from toolcrib.catalog.pins import PinStore
from toolcrib.coordination.cache import Cache, LocalCache
from toolcrib.coordination.signals import Signals
from toolcrib.documents.document import DocumentStore
from toolcrib.grants.agents import AgentStore
from toolcrib.identity.accounts import GroupStore, TokenStore, UserStore
from toolcrib.invocation.journal import Journal
from toolcrib.invocation.repeats import RepeatStore
from toolcrib.resolution.exposed import ExposedNames
from toolcrib.secrets.attempts import AttemptStore
from toolcrib.secrets.logins import LoginStore
from toolcrib.secrets.settings import SettingStore
from toolcrib.secrets.vault import SecretStore
from toolcrib.storage import schema
from toolcrib.storage.address import Address
from toolcrib.storage.agents import SqlAgentStore
from toolcrib.storage.attempts import SqlAttemptStore
from toolcrib.storage.capabilities import SqlCapabilityStore
from toolcrib.storage.chats import SqlChatStore
from toolcrib.storage.database import Clock, Database, utc_now
from toolcrib.storage.documents import SqlDocumentStore
from toolcrib.storage.exposed_names import SqlExposedNames
from toolcrib.storage.groups import SqlGroupStore
from toolcrib.storage.journal import SqlJournal
from toolcrib.storage.journal.postgres import PostgresSink
from toolcrib.storage.journal.sink import Sink
from toolcrib.storage.journal.sqlite import SqliteSink
from toolcrib.storage.journal.writer import Pace
from toolcrib.storage.logins import SqlLoginStore
from toolcrib.storage.memories import SqlMemoryStore
from toolcrib.storage.packages import SqlPackageStore
from toolcrib.storage.pins import SqlPinStore
from toolcrib.storage.redis.parts import RedisParts, open_redis
from toolcrib.storage.repeats import SqlRepeatStore
from toolcrib.storage.secrets import SqlSecretStore
from toolcrib.storage.settings import SqlSettingStore
from toolcrib.storage.signals import SqlSignals
from toolcrib.storage.sqlite import use_write_ahead_log
from toolcrib.storage.tasks import SqlTaskStore
from toolcrib.storage.tokens import SqlTokenStore
from toolcrib.storage.users import SqlUserStore


@dataclass(frozen=True, kw_only=True, slots=True)
class Storage:
    """One open database, behind the ports of the stages."""

    groups: GroupStore
    users: UserStore
    tokens: TokenStore
    capabilities: CapabilityStore
    agents: AgentStore
    chats: ChatStore
    settings: SettingStore
    secrets: SecretStore
    logins: LoginStore
    attempts: AttemptStore
    packages: PackageStore
    exposed_names: ExposedNames
    pins: PinStore
    documents: DocumentStore
    repeats: RepeatStore
    tasks: TaskStore
    memories: MemoryStore
    journal: Journal
    signals: Signals
    cache: Cache
    database: Database = field(repr=False)
    redis: RedisParts | None = field(default=None, repr=False)

    async def ping(self) -> None:
        """Raises SetupError when the database does not answer."""
        await self.database.ping()

    async def close(self) -> None:
        """Write what the journal has queued, then let go of the database."""
        try:
            await self.journal.close()
        finally:
            if self.redis is not None:
                await self.redis.close()
            await self.database.close()


async def open_storage(
    url: str,
    *,
    clock: Clock = utc_now,
    poll: float = 1.0,
    pace: Pace | None = None,
    redis: str = "",
) -> Storage:
    """Open `sqlite:///PATH` or `postgresql://…`, made and migrated if need be.

    `poll` is how often, in seconds, other processes' changes are looked for; with the address of a
    `redis` they are heard of at once. Raises InvalidSettings for an address that cannot be used,
    MissingExtra without a driver, SchemaOutdated for a database of newer code, SetupError for one
    that does not answer. A Redis that does not answer is done without.
    """
    address = Address.of(url)
    parts = open_redis(redis, name=address.name) if redis else None
    if address.kind == "sqlite":
        address.make_file()
        await use_write_ahead_log(address.path)
    database = Database(address, clock=clock)
    try:
        await _bring_up_to_date(url, database)
        signals = SqlSignals(database, interval=poll, bell=parts and parts.bell)
        await signals.refresh()
        return _storage(database, signals, pace, parts)
    except BaseException:
        await database.close()
        raise


async def _bring_up_to_date(url: str, database: Database) -> None:
    async with database.read() as connection:
        present = await schema.read_revision(connection)
    schema.require_known(present, str(database.address))
    if present != schema.HEAD:
        await schema.migrate(url)


def _storage(
    database: Database, signals: SqlSignals, pace: Pace | None, redis: RedisParts | None
) -> Storage:
    return Storage(
        groups=SqlGroupStore(database),
        users=SqlUserStore(database),
        tokens=SqlTokenStore(database),
        capabilities=SqlCapabilityStore(database),
        agents=SqlAgentStore(database),
        chats=SqlChatStore(database),
        settings=SqlSettingStore(database),
        secrets=SqlSecretStore(database),
        logins=SqlLoginStore(database),
        attempts=SqlAttemptStore(database),
        packages=SqlPackageStore(database),
        exposed_names=SqlExposedNames(database),
        pins=SqlPinStore(database),
        documents=SqlDocumentStore(database),
        repeats=SqlRepeatStore(database),
        tasks=SqlTaskStore(database),
        memories=SqlMemoryStore(database),
        journal=SqlJournal(database, _sink(database.address), pace=pace),
        signals=signals,
        cache=redis.cache if redis else LocalCache(),
        database=database,
        redis=redis,
    )


def _sink(address: Address) -> Sink:
    if address.kind == "sqlite":
        return SqliteSink(address.path)
    return PostgresSink(address.conninfo)
