"""This module reads the address of a database: a SQLite file, or a PostgreSQL server."""

from __future__ import annotations

import os
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from sqlalchemy import URL, make_url
from sqlalchemy.exc import ArgumentError

from toolcrib.errors import InvalidSettings, MissingExtra

Kind = Literal["sqlite", "postgresql"]
_SQLITE = ("sqlite:///", "sqlite+aiosqlite:///")
_POSTGRES = {"postgres", "postgresql", "postgresql+psycopg"}
_PATIENCE = {"connect_timeout": "10", "tcp_user_timeout": "10000"}
"""A server that vanished is noticed after 10 seconds (the second number is in milliseconds)."""
_HINT = "Use sqlite:///PATH or postgresql://USER@HOST/DATABASE."


@dataclass(frozen=True, kw_only=True, slots=True)
class Address:
    """Where the database is. `str()` hides the password and the options."""

    kind: Kind
    url: URL

    @classmethod
    def of(cls, text: str) -> Address:
        """Raises InvalidSettings for what is no such address, MissingExtra without the driver."""
        for prefix in _SQLITE:
            if text.startswith(prefix):
                return cls(kind="sqlite", url=_sqlite(text.removeprefix(prefix)))
        try:
            url = make_url(text)
        except (ArgumentError, ValueError):
            raise InvalidSettings("The database's address cannot be read.", hint=_HINT) from None
        if url.drivername not in _POSTGRES:
            raise InvalidSettings(
                f"{url.drivername!r} is no kind of database that is known here.", hint=_HINT
            )
        require_psycopg()
        url = url.set(drivername="postgresql+psycopg", query={**_PATIENCE, **url.query})
        return cls(kind="postgresql", url=url)

    @property
    def path(self) -> Path:
        """The file of a SQLite database."""
        return Path(self.url.database or "")

    @property
    def name(self) -> str:
        """The same for all processes that share the database, and another one for other databases.

        A PostgreSQL server goes by the host and port that are written in the address.
        """
        if self.kind == "sqlite":
            return str(self.path.resolve())
        host = self.url.host or self.url.query.get("host") or "localhost"
        return f"{host}:{self.url.port or 5432}/{self.url.database}"

    @property
    def conninfo(self) -> str:
        """The address as psycopg itself reads it, password included."""
        return self.url.set(drivername="postgresql").render_as_string(hide_password=False)

    def __str__(self) -> str:
        return self.url.set(query={}).render_as_string(hide_password=True)

    def make_file(self) -> None:
        """Make the SQLite file and its folder, for their owner alone, unless it is there.

        A file that is there is never opened here: closing it would end the locks that SQLite
        holds on it in this process, and other processes would take the database for unused.
        """
        try:
            self.path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
            with suppress(FileExistsError):
                os.close(os.open(self.path, os.O_RDWR | os.O_CREAT | os.O_EXCL, 0o600))
        except OSError as error:
            raise InvalidSettings(
                f"The database file {str(self.path)!r} cannot be opened: {error.strerror}.",
                hint="Set TOOLCRIB_DATA_DIR or TOOLCRIB_DATABASE_URL to a place you may write to.",
            ) from None


def require_psycopg() -> None:
    """Raises MissingExtra unless PostgreSQL's driver can be imported."""
    try:
        __import__("psycopg")
    except ImportError as error:
        raise MissingExtra(
            f"PostgreSQL needs a driver that is not installed: {error}.",
            hint="Run pip install 'toolcrib[postgres]'.",
        ) from None


def _sqlite(path: str) -> URL:
    if path in {"", ":memory:"}:
        raise InvalidSettings(
            "A SQLite database needs a file: several connections share it.", hint=_HINT
        )
    return URL.create("sqlite+aiosqlite", database=path)
