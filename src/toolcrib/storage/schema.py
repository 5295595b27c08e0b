"""This module brings a database to the shape that this code needs, one process at a time.

Looking which revision is there costs one query; Alembic is imported only when there is something
to change. All changes of one run are one transaction.
"""

from __future__ import annotations

from pathlib import Path

from sqlalchemy import Connection, inspect, text
from sqlalchemy.ext.asyncio import AsyncConnection

from toolcrib.errors import InvalidRequest, SchemaOutdated
from toolcrib.storage.address import Address
from toolcrib.storage.engine import make_engine
from toolcrib.storage.failures import translated
from toolcrib.storage.sqlite import use_write_ahead_log

REVISIONS = ("0001", "0002", "0003", "0004", "0005", "0006", "0007", "0008", "0009")
"""Every revision that this code knows, oldest first. A test compares it with the files."""
HEAD = REVISIONS[-1]
BASE = "base"
_LOCK = 0x746F6F6C63726962
"""The number of PostgreSQL's advisory lock: `toolcrib` in ASCII."""


async def revision(url: str) -> str | None:
    """The revision of a database, None for an empty one."""
    address = Address.of(url)
    if address.kind == "sqlite" and not address.path.exists():
        return None
    engine = make_engine(address, migrating=True)
    try:
        with translated(str(address)):
            async with engine.connect() as connection:
                return await read_revision(connection)
    finally:
        await engine.dispose()


async def migrate(url: str, to: str = "head") -> str | None:
    """Change the tables to a revision, `head` or `base`, up or down; returns what is there now.

    Going down deletes what only the newer tables could hold. A process that comes second waits,
    then finds nothing left to do. Raises SchemaOutdated for a database from newer code.
    """
    address = Address.of(url)
    target = _known(to)
    if address.kind == "sqlite":
        address.make_file()
        await use_write_ahead_log(address.path)
    engine = make_engine(address, migrating=True)
    try:
        with translated(str(address)):
            async with engine.begin() as connection:
                if address.kind == "postgresql":
                    await connection.execute(text(f"SELECT pg_advisory_xact_lock({_LOCK})"))
                present = await read_revision(connection)
                require_known(present, str(address))
                if _place(present) != _place(target):
                    await connection.run_sync(_run, target, _place(target) > _place(present))
                return await read_revision(connection)
    finally:
        await engine.dispose()


def require_known(present: str | None, database: str) -> None:
    """Raises SchemaOutdated when newer code has changed the database."""
    if present is not None and present not in REVISIONS:
        raise SchemaOutdated(
            f"The database {database} is at revision {present!r}, which this code does not know.",
            hint="Newer code made it: install that version of Toolcrib again. To stay with this "
            f"one, let that version take it down: toolcrib db downgrade {HEAD} --yes.",
        )


def _known(name: str) -> str:
    if name in {"head", BASE, *REVISIONS}:
        return HEAD if name == "head" else name
    raise InvalidRequest(
        f"There is no revision {name!r}.",
        where="revision",
        hint=f"Known: {', '.join((BASE, *REVISIONS, 'head'))}.",
    )


def _place(name: str | None) -> int:
    return -1 if name in {None, BASE} else REVISIONS.index(str(name))


async def read_revision(connection: AsyncConnection) -> str | None:
    """The revision that the database says it is at, None before the first."""
    if not await connection.run_sync(lambda sync: inspect(sync).has_table("alembic_version")):
        return None
    return (await connection.execute(text("SELECT version_num FROM alembic_version"))).scalar()


def _run(connection: Connection, target: str, upwards: bool) -> None:
    from alembic import command  # noqa: PLC0415 - takes longer than opening a database
    from alembic.config import Config  # noqa: PLC0415

    config = Config(attributes={"connection": connection})
    folder = str(Path(__file__).parent / "migrations").replace("%", "%%")
    config.set_main_option("script_location", folder)
    config.set_main_option("path_separator", "os")
    (command.upgrade if upwards else command.downgrade)(config, target)
