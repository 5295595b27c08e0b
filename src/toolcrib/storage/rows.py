"""This module holds what all stores do alike: find, change a version, see what is missing."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from importlib import import_module
from typing import Any

from sqlalchemy import ColumnElement, Executable, RowMapping, Table, delete, select, update
from sqlalchemy.ext.asyncio import AsyncConnection

from toolcrib.errors import Conflict, InvalidRequest, NotFound
from toolcrib.storage.address import Kind


async def one(connection: AsyncConnection, statement: Executable) -> RowMapping:
    return (await connection.execute(statement)).mappings().one()


async def maybe(connection: AsyncConnection, statement: Executable) -> RowMapping | None:
    return (await connection.execute(statement)).mappings().one_or_none()


async def many(connection: AsyncConnection, statement: Executable) -> Sequence[RowMapping]:
    return (await connection.execute(statement)).mappings().all()


async def affected(connection: AsyncConnection, statement: Executable) -> int:
    """Run a statement; how many rows it changed or deleted."""
    return (await connection.execute(statement)).rowcount


async def find(connection: AsyncConnection, table: Table, row_id: int) -> RowMapping | None:
    return await maybe(connection, select(table).where(table.c.id == row_id))


async def next_version(
    connection: AsyncConnection,
    table: Table,
    row_id: int,
    values: Mapping[str, Any],
    *,
    expected: int | None,
) -> RowMapping | None:
    """Write the values and count the version up; None when no row of that version is there.

    One statement compares and writes, so of two callers with one expectation one wins.
    """
    statement = (
        update(table)
        .where(table.c.id == row_id)
        .values(**values, version=table.c.version + 1)
        .returning(*table.c)
    )
    if expected is not None:
        statement = statement.where(table.c.version == expected)
    return await maybe(connection, statement)


async def removed(
    connection: AsyncConnection, table: Table, chosen: ColumnElement[bool], *, expected: int | None
) -> bool:
    """Delete the chosen row; False when no row of that version is there."""
    statement = delete(table).where(chosen)
    if expected is not None:
        statement = statement.where(table.c.version == expected)
    return await affected(connection, statement) > 0


def not_changed(noun: str, row_id: int | str, *, expected: int | None, current: Any) -> Exception:
    """Why no row of the expected version was there to change or delete."""
    if current is None:
        return NotFound.of(f"{noun} {row_id!r}")
    return Conflict(
        f"The {noun} {row_id!r} is at version {current.version}, not {expected}.",
        hint="Read it again and repeat the change.",
        current=current,
    )


async def require(connection: AsyncConnection, table: Table, noun: str, ids: Iterable[int]) -> None:
    """Raises NotFound that names the first id without a row."""
    wanted = sorted(set(ids))
    present = set(
        (await connection.execute(select(table.c.id).where(table.c.id.in_(wanted)))).scalars()
    )
    for one in wanted:
        if one not in present:
            raise NotFound.of(f"{noun} {one}")


def checked_changes(changes: Mapping[str, Any], known: Collection[str]) -> dict[str, Any]:
    """A copy. Raises InvalidRequest that names a field which cannot be changed."""
    for name in changes:
        if name not in known:
            raise InvalidRequest(
                f"The field {name!r} cannot be changed.",
                where=name,
                hint=f"Fields that can: {', '.join(sorted(known))}.",
            )
    return dict(changes)


def upsert(
    table: Table,
    values: Mapping[str, Any],
    *,
    key: Collection[str],
    where: ColumnElement[bool] | None = None,
    otherwise: Mapping[str, Any],
    kind: Kind,
) -> Any:
    """Insert the values, or update the row that has the same key with `otherwise`.

    `where` is the condition of the unique index, if it has one. Answers a statement that can
    still have `returning`.
    """
    # One of the two is loaded already, with the driver; the other would cost 40 ms.
    dialect = import_module(f"sqlalchemy.dialects.{kind}")
    return (
        dialect.insert(table)
        .values(**values)
        .on_conflict_do_update(index_elements=list(key), index_where=where, set_=otherwise)
    )


def name_key(name: str) -> str:
    """Two names are one when these are equal."""
    return name.casefold()
