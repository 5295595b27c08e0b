"""This module holds what must be true of a SQLite file before several connections share it."""

from __future__ import annotations

import asyncio
import sqlite3
from pathlib import Path

from toolcrib.errors import SetupError

OLDEST = (3, 35, 0)
"""The first SQLite whose statements can answer with the rows they wrote."""


async def use_write_ahead_log(path: Path, *, patience: float = 30.0) -> None:
    """Switch the file to WAL, where readers and a writer do not wait for each other.

    The switch needs the file for itself and does not queue for it, so it is tried for `patience`
    seconds. It lasts: a file that has it is left as it is.
    """
    if sqlite3.sqlite_version_info < OLDEST:
        raise SetupError(
            f"SQLite {sqlite3.sqlite_version} is too old.",
            hint=f"Use a Python with SQLite {'.'.join(map(str, OLDEST))} or newer.",
        )
    loop = asyncio.get_running_loop()
    until = loop.time() + patience
    while True:
        try:
            return await asyncio.to_thread(_switch, path)
        except sqlite3.DatabaseError as error:
            if loop.time() > until or not is_busy(error):
                raise SetupError(
                    f"The database file {str(path)!r} cannot be prepared: {error}.",
                    hint="See whether another program keeps it open, and its disk can be written.",
                ) from error
        await asyncio.sleep(0.05)


def is_busy(error: sqlite3.Error) -> bool:
    """Whether somebody else has the file, so that trying again may help."""
    code = getattr(error, "sqlite_errorcode", None) or 0
    return code & 0xFF in {sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED}


def _switch(path: Path) -> None:
    connection = sqlite3.connect(path, timeout=1.0)
    try:
        if connection.execute("PRAGMA journal_mode").fetchone() != ("wal",):
            connection.execute("PRAGMA journal_mode=WAL")
    finally:
        connection.close()
