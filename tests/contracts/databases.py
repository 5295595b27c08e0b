"""This module gives every test fresh databases of both kinds: SQLite files, PostgreSQL databases.

The role that `tests.support.services` finds must be allowed to create databases.
"""

from __future__ import annotations

import asyncio
import shutil
import threading
import uuid
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any, Protocol

import psycopg
import pytest
from sqlalchemy import make_url

from tests.contracts.people import People, add_people
from tests.support.services import postgres_url
from toolcrib.storage import Storage, migrate, open_storage
from toolcrib.storage.drawing import metadata


class Databases(Protocol):
    """Databases of one kind."""

    def make(self, *, empty: bool = False) -> str:
        """The address of one that is migrated and without rows, or `empty`."""
        ...

    def recycle(self) -> None:
        """The test is over: what it was given may be cleaned and given to the next."""
        ...


class SqliteFiles:
    """Copies of one migrated file."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._template: Path | None = None

    def make(self, *, empty: bool = False) -> str:
        path = self._folder / f"{uuid.uuid4().hex}.db"
        if not empty:
            if self._template is None:
                self._template = self._folder / "template.db"
                _migrate(f"sqlite:///{self._template}")
            shutil.copyfile(self._template, path)
        return f"sqlite:///{path}"

    def recycle(self) -> None:
        """The folder is pytest's; a file is never given twice."""


class PostgresDatabases:
    """Databases that are emptied and used again: dropping one makes the server write all it has."""

    def __init__(self, server: str) -> None:
        self._server = server
        self._free: dict[bool, list[str]] = {True: [], False: []}
        self._given: list[tuple[bool, str]] = []

    def make(self, *, empty: bool = False) -> str:
        free = self._free[empty]
        name = free.pop() if free else self._create(empty=empty)
        self._given.append((empty, name))
        return self._url(name)

    def recycle(self) -> None:
        while self._given:
            empty, name = self._given.pop()
            self._do(_EMPTY if empty else _NO_ROWS, self._url(name))
            self._free[empty].append(name)

    def remove_all(self) -> None:
        for name in self._free[True] + self._free[False]:
            self._do(f'DROP DATABASE "{name}" WITH (FORCE)', self._server)

    def _create(self, *, empty: bool) -> str:
        name = f"toolcrib_{uuid.uuid4().hex}"
        self._do(f'CREATE DATABASE "{name}"', self._server)
        if not empty:
            _migrate(self._url(name))
        return name

    def _url(self, name: str) -> str:
        return make_url(self._server).set(database=name).render_as_string(hide_password=False)

    def _do(self, statement: str, url: str) -> None:
        with psycopg.connect(url, autocommit=True) as connection:
            connection.execute("SET lock_timeout = '10s'")
            connection.execute(statement.encode())


_EMPTY = "DROP SCHEMA public CASCADE; CREATE SCHEMA public"
_NO_ROWS = f"TRUNCATE {', '.join(metadata.tables)} RESTART IDENTITY"


def _migrate(url: str) -> None:
    """In a thread with a loop of its own: pytest's may be about to run a test."""
    thread = threading.Thread(target=lambda: asyncio.run(migrate(url)))
    thread.start()
    thread.join()


@pytest.fixture(scope="session")
def sqlite_files(tmp_path_factory: pytest.TempPathFactory) -> SqliteFiles:
    return SqliteFiles(tmp_path_factory.mktemp("sqlite"))


@pytest.fixture(scope="session")
def postgres_databases() -> Iterator[PostgresDatabases]:
    made = PostgresDatabases(postgres_url())
    yield made
    made.remove_all()


@pytest.fixture(params=["sqlite_files", "postgres_databases"], ids=["sqlite", "postgresql"])
def databases(request: pytest.FixtureRequest) -> Iterator[Databases]:
    """Each test that asks for it runs once on SQLite and once on PostgreSQL."""
    of_kind: Databases = request.getfixturevalue(request.param)
    yield of_kind
    of_kind.recycle()


@pytest.fixture
def empty_url(databases: Databases) -> str:
    """The address of a database with nothing in it."""
    return databases.make(empty=True)


@pytest.fixture
def storage_url(databases: Databases) -> str:
    """The address of a migrated database without rows."""
    return databases.make()


@asynccontextmanager
async def opened(url: str, **options: Any) -> AsyncIterator[Storage]:
    """A database that is closed at the end of the block, whatever happens in it."""
    storage = await open_storage(url, **options)
    try:
        yield storage
    finally:
        await storage.close()


@pytest.fixture
async def storage(storage_url: str) -> AsyncIterator[Storage]:
    """An open database without rows; it looks for other processes' changes every 50 ms."""
    async with opened(storage_url, poll=0.05) as storage:
        yield storage


@pytest.fixture
async def people(storage: Storage) -> People:
    """Two tenants in the open database."""
    return await add_people(storage)
