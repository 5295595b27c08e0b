"""The shape of the database: made, taken back, made again, by one process at a time."""

from __future__ import annotations

import asyncio
import sys
from pathlib import Path

import pytest
from alembic.autogenerate import compare_metadata
from alembic.config import Config
from alembic.migration import MigrationContext
from alembic.script import ScriptDirectory
from sqlalchemy import Connection, inspect, text

import toolcrib.storage
from tests.contracts.people import add_agent, add_capability, add_people
from tests.storage import children
from toolcrib.errors import InvalidRequest, SchemaOutdated
from toolcrib.storage import BASE, HEAD, REVISIONS, migrate, open_storage, revision
from toolcrib.storage.address import Address
from toolcrib.storage.engine import make_engine
from toolcrib.storage.indexes import metadata

MIGRATIONS = Path(toolcrib.storage.__file__).parent / "migrations"


async def look(url: str, see: object) -> object:
    """Run a function on a plain connection to the database."""
    engine = make_engine(Address.of(url), migrating=True)
    async with engine.begin() as connection:
        seen = await connection.run_sync(see)  # type: ignore[arg-type]
    await engine.dispose()
    return seen


def shape(connection: Connection) -> dict[str, object]:
    """Columns, keys and indexes of every table; of SQLite the very statements."""
    seen = inspect(connection)
    if connection.dialect.name == "sqlite":
        found = connection.execute(text("SELECT name, sql FROM sqlite_master WHERE sql <> ''"))
        return {row[0]: " ".join(row[1].split()) for row in found}
    return {
        name: (
            [(c["name"], str(c["type"]), c["nullable"]) for c in seen.get_columns(name)],
            seen.get_pk_constraint(name)["constrained_columns"],
            sorted(
                (key["constrained_columns"], key["referred_table"], key["options"])
                for key in seen.get_foreign_keys(name)
            ),
            sorted((i["name"], i["column_names"], i["unique"]) for i in seen.get_indexes(name)),
        )
        for name in seen.get_table_names()
    }


def table_names(connection: Connection) -> set[str]:
    return set(inspect(connection).get_table_names())


def test_known_revisions_are_the_files() -> None:
    """`REVISIONS` names every migration in order, so opening need not ask Alembic."""
    config = Config()
    config.set_main_option("script_location", str(MIGRATIONS))
    config.set_main_option("path_separator", "os")
    found = ScriptDirectory.from_config(config).walk_revisions()
    assert tuple(reversed([script.revision for script in found])) == REVISIONS


async def test_up_down_up(empty_url: str) -> None:
    """Down leaves nothing but Alembic's own table; up again makes the same shape."""
    assert await revision(empty_url) is None
    assert await migrate(empty_url) == HEAD
    first = await look(empty_url, shape)
    assert await look(empty_url, table_names) == {*metadata.tables, "alembic_version"}
    assert await migrate(empty_url, BASE) is None
    assert await look(empty_url, table_names) == {"alembic_version"}
    assert await revision(empty_url) is None
    assert await migrate(empty_url) == HEAD
    assert await look(empty_url, shape) == first


async def test_every_step_leads_back(empty_url: str) -> None:
    """Going down one revision leaves exactly what was there before it."""
    shapes: list[object] = []
    for target in REVISIONS:
        assert await migrate(empty_url, target) == target
        shapes.append(await look(empty_url, shape))
    for target, before in reversed([*zip(REVISIONS, shapes, strict=True)][:-1]):
        assert await migrate(empty_url, target) == target
        assert await look(empty_url, shape) == before


async def test_down_with_rows(storage_url: str) -> None:
    """Rows that refer to each other do not stop the way back."""
    storage = await open_storage(storage_url)
    people = await add_people(storage)
    await add_agent(storage, people, await add_capability(storage, "a"))
    await storage.close()
    assert await migrate(storage_url, BASE) is None
    assert await migrate(storage_url) == HEAD
    again = await open_storage(storage_url)
    assert await again.groups.list() == []
    await again.close()


@pytest.mark.filterwarnings("ignore:Skipped unsupported reflection")
async def test_tables_and_migrations_agree(storage_url: str) -> None:
    """What the migrations make is what the code draws: nothing to generate."""

    def differences(connection: Connection) -> list[object]:
        return compare_metadata(MigrationContext.configure(connection), metadata)

    assert await look(storage_url, differences) == []


async def test_partial_indexes_have_their_conditions(storage_url: str) -> None:
    """The comparison above does not look at conditions, so they are looked at here."""

    def conditions(connection: Connection) -> dict[str, str]:
        column = "sql" if connection.dialect.name == "sqlite" else "indexdef"
        where = "sqlite_master" if connection.dialect.name == "sqlite" else "pg_indexes"
        name = "name" if connection.dialect.name == "sqlite" else "indexname"
        found = connection.execute(text(f"SELECT {name}, {column} FROM {where}"))
        return {row[0]: row[1].partition(" WHERE ")[2] for row in found if row[1]}

    found = await look(storage_url, conditions)
    drawn = {
        index.name: index.dialect_options["sqlite"]["where"]
        for table in metadata.tables.values()
        for index in table.indexes
    }
    assert {name for name, where in drawn.items() if where is not None} == {
        name for name in drawn if found[name]
    }


async def test_newer_database_is_left_alone(empty_url: str) -> None:
    """A revision that this code does not know is an error that names it, on every way in."""
    await migrate(empty_url)

    def pretend(connection: Connection) -> None:
        connection.execute(text("UPDATE alembic_version SET version_num = '9999'"))

    await look(empty_url, pretend)
    with pytest.raises(SchemaOutdated, match="'9999'"):
        await open_storage(empty_url)
    with pytest.raises(SchemaOutdated, match="'9999'"):
        await migrate(empty_url, BASE)
    assert await revision(empty_url) == "9999"


async def test_unknown_target_is_refused(storage_url: str) -> None:
    """A revision that is none is refused with those there are."""
    with pytest.raises(InvalidRequest, match="0001"):
        await migrate(storage_url, "0000")
    assert await revision(storage_url) == HEAD


def test_revision_makes_no_file(tmp_path: Path) -> None:
    """Asking a SQLite database that is not there does not make it."""
    assert asyncio.run(revision(f"sqlite:///{tmp_path}/none.db")) is None
    assert list(tmp_path.iterdir()) == []


async def test_processes_that_open_at_once(empty_url: str) -> None:
    """Four processes open a new database at the same moment: all can use it, once migrated."""
    program = """
        import asyncio, sys
        from toolcrib.storage import open_storage

        async def main():
            storage = await open_storage(sys.argv[1])
            print((await storage.groups.create(name=sys.argv[2])).id)
            await storage.close()

        asyncio.run(main())
    """
    started = await asyncio.gather(*(children.start(program, empty_url, f"g{n}") for n in range(4)))
    printed = await children.finish(*started)
    assert sorted(int(line) for line in printed) == [1, 2, 3, 4]
    assert await revision(empty_url) == HEAD


async def test_ready_database_opens_without_alembic(storage_url: str) -> None:
    """Alembic, and the dialect of the other database, stay out of a process that needs neither."""
    program = """
        import asyncio, sys
        from toolcrib.storage import open_storage

        async def main():
            storage = await open_storage(sys.argv[1])
            await storage.signals.bump("catalog")
            await storage.close()

        asyncio.run(main())
        print(*[name for name in ("alembic", "mako", "sqlalchemy.dialects.postgresql")
                if name in sys.modules])
    """
    (printed,) = await children.finish(await children.start(program, storage_url))
    needed = [] if storage_url.startswith("sqlite") else ["sqlalchemy.dialects.postgresql"]
    assert printed.split() == needed


async def test_alembics_own_command_works(empty_url: str) -> None:
    """A developer's `alembic` with the ini file at the root sees the same migrations."""
    root = Path(__file__).parents[2]
    for command in ("upgrade head", "check"):
        process = await asyncio.create_subprocess_exec(
            sys.executable,
            "-m",
            "alembic",
            "-x",
            f"url={empty_url}",
            *command.split(),
            cwd=root,
            stdout=asyncio.subprocess.PIPE,
            stderr=asyncio.subprocess.STDOUT,
        )
        printed, _ = await process.communicate()
        assert process.returncode == 0, printed.decode()
    assert await revision(empty_url) == HEAD
