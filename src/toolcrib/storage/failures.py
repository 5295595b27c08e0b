"""This module turns a database's errors into Toolcrib's, once."""

from __future__ import annotations

from collections.abc import Generator
from contextlib import contextmanager

from sqlalchemy.exc import IntegrityError, SQLAlchemyError, StatementError

from toolcrib.errors import Conflict, InvalidRequest, NoSpace, NotFound, SetupError, ToolcribError

_UNIQUE = {"23505", "SQLITE_CONSTRAINT_UNIQUE", "SQLITE_CONSTRAINT_PRIMARYKEY"}
_REFERENCE = {"23503", "SQLITE_CONSTRAINT_FOREIGNKEY"}
_FULL = {"53100", "SQLITE_FULL"}
_UNFIT = {"22"}
"""PostgreSQL's class of values that a column cannot hold."""


@contextmanager
def translated(database: str) -> Generator[None]:
    """What a column type refused leaves as it was raised; the rest names the database."""
    try:
        yield
    except SQLAlchemyError as error:
        raise _ours(error, database) from error


@contextmanager
def taken(message: str, *, hint: str | None = None) -> Generator[None]:
    """A broken rule of uniqueness becomes Conflict(message), a broken reference NotFound."""
    try:
        yield
    except IntegrityError as error:
        rule = _rule(error)
        if rule in _UNIQUE:
            raise Conflict(message, hint=hint) from None
        if rule in _REFERENCE:
            raise NotFound("Something that this refers to was deleted meanwhile.") from None
        raise


def _ours(error: SQLAlchemyError, database: str) -> ToolcribError:
    if isinstance(error, StatementError):
        if isinstance(error.orig, ToolcribError):
            return error.orig
        if _rule(error)[:2] in _UNFIT:
            return InvalidRequest(f"A value cannot be stored: {error.orig}.")
        if _rule(error) in _FULL:
            return NoSpace(
                "There is no room left for the database.",
                hint="Whoever runs the server makes room; nothing was changed.",
            )
        lines = str(error.orig).strip().splitlines()
        cause = lines[0] if lines else repr(error.orig)
    else:
        cause = str(error)
    return SetupError(
        f"The database {database} failed: {cause}",
        hint="See that it is running and that TOOLCRIB_DATABASE_URL is right.",
    )


def _rule(error: StatementError) -> str:
    """SQLite's name or PostgreSQL's number of what was broken."""
    orig = error.orig
    return str(getattr(orig, "sqlite_errorname", None) or getattr(orig, "sqlstate", None) or "")
