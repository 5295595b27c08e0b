"""Which addresses of databases are understood, and what is said of the others."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from toolcrib.errors import InvalidSettings
from toolcrib.storage.address import Address


@pytest.mark.parametrize(
    ("text", "path"),
    [
        ("sqlite:////var/lib/toolcrib.db", "/var/lib/toolcrib.db"),
        ("sqlite:///relative.db", "relative.db"),
        ("sqlite+aiosqlite:////a.db", "/a.db"),
        ("sqlite:////odd %20?#&name.db", "/odd %20?#&name.db"),
    ],
)
def test_sqlite_takes_any_path(text: str, path: str) -> None:
    """What follows `sqlite:///` is the path, as it is."""
    address = Address.of(text)
    assert (address.kind, address.path) == ("sqlite", Path(path))


@pytest.mark.parametrize("scheme", ["postgres", "postgresql", "postgresql+psycopg"])
def test_postgres_takes_its_usual_names(scheme: str) -> None:
    """Every usual scheme is psycopg's; the password shows only where psycopg needs it."""
    address = Address.of(f"{scheme}://me:hidden@db.example:6432/crib?sslmode=require")
    assert address.kind == "postgresql"
    assert address.url.drivername == "postgresql+psycopg"
    assert str(address) == "postgresql+psycopg://me:***@db.example:6432/crib"
    assert address.conninfo.startswith("postgresql://me:hidden@db.example:6432/crib?")
    assert "sslmode=require" in address.conninfo
    assert "connect_timeout=10" in address.conninfo


def test_a_name_is_of_one_database() -> None:
    """Two servers may have a database of one name; user and options make no other database."""
    name = Address.of("postgresql://me@db.example/crib").name
    assert name == Address.of("postgres://you:hidden@db.example:5432/crib?sslmode=require").name
    others = (
        "postgres://db.other/crib",
        "postgres://db.example:5433/crib",
        "postgres://db.example/x",
    )
    assert name not in {Address.of(text).name for text in others}


def test_operators_timeouts_win() -> None:
    """A timeout in the address is kept."""
    assert "connect_timeout=3" in Address.of("postgres://db/crib?connect_timeout=3").conninfo


@pytest.mark.parametrize(
    "text", ["", "sqlite:///", "sqlite:///:memory:", "mysql://db/crib", "no address", "a://b:c/d"]
)
def test_what_is_no_address_is_refused(text: str) -> None:
    """The error says what an address looks like, and repeats no password."""
    with pytest.raises(InvalidSettings) as refused:
        Address.of(text)
    assert "sqlite:///PATH" in str(refused.value)


def test_file_is_its_owners_alone(tmp_path: Path) -> None:
    """The folder is made with 0700, the file with 0600."""
    path = tmp_path / "new" / "crib.db"
    Address.of(f"sqlite:///{path}").make_file()
    assert path.parent.stat().st_mode & 0o777 == 0o700
    assert path.stat().st_mode & 0o777 == 0o600


def test_file_that_cannot_be_made_is_named(tmp_path: Path) -> None:
    """A path through a file is refused with the path in the message."""
    (tmp_path / "file").write_text("")
    with pytest.raises(InvalidSettings, match=r"crib\.db"):
        Address.of(f"sqlite:///{tmp_path}/file/crib.db").make_file()


def test_missing_driver_says_what_to_install() -> None:
    """Without psycopg, SQLite works and PostgreSQL's address names the extra."""
    program = """
import sys
sys.modules["psycopg"] = None
from toolcrib.errors import MissingExtra
from toolcrib.storage.address import Address
Address.of("sqlite:///x.db")
try:
    Address.of("postgresql://db/crib")
except MissingExtra as error:
    print(error)
"""
    printed = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, check=True
    ).stdout
    assert "pip install 'toolcrib[postgres]'" in printed
