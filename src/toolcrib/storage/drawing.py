"""This module draws what tables have in common: ids, versions, and references to other rows."""

from __future__ import annotations

from typing import Any

from sqlalchemy import Column, ForeignKey, MetaData, Table

from toolcrib.storage.columns import Id

metadata = MetaData()
NAME = 255
"""How long a name may be."""


def table(name: str, *columns: Column[Any]) -> Table:
    """Ids of ours are never used twice, even after a delete: an old record must not come to mean a
    new thing."""
    counted = any(c.name == "id" and isinstance(c.type, Id) for c in columns)
    return Table(name, metadata, *columns, sqlite_autoincrement=counted)


def own_id() -> Column[int]:
    return Column("id", Id, primary_key=True)


def version() -> Column[int]:
    return Column("version", Id, nullable=False, server_default="1")


def to(
    target: str, name: str, *, gone: str | None = None, nullable: bool = False, key: bool = False
) -> Column[int]:
    """A reference, `key`: a part of the row's own key. `gone` says what happens to this row when
    the other goes."""
    other = ForeignKey(f"{target}.id", ondelete=gone)
    return Column(name, Id, other, nullable=nullable, primary_key=key)
