"""This module keeps installed packages by their slug."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import fields
from typing import Any

from sqlalchemy import RowMapping, delete, insert, select, update

from toolcrib.catalog.packages import Package, PackageDraft
from toolcrib.errors import Conflict, NotFound
from toolcrib.secrets.placeholders import SECRETS, needs
from toolcrib.storage import rows
from toolcrib.storage.database import Database
from toolcrib.storage.failures import taken
from toolcrib.storage.tables import packages

_DRAFTED = tuple(field.name for field in fields(PackageDraft))


class SqlPackageStore:
    """PackageStore in SQL."""

    def __init__(self, database: Database) -> None:
        self._database = database

    async def install(self, draft: PackageDraft) -> Package:
        values = {name: getattr(draft, name) for name in _DRAFTED}
        statement = (
            insert(packages)
            .values(**values, enabled=True, installed_at=self._database.now())
            .returning(*packages.c)
        )
        async with self._database.write() as connection:
            present = await rows.maybe(connection, _chosen(draft.slug))
            if present is not None:
                raise Conflict(
                    f"The package {draft.slug!r} is installed already; it was not changed.",
                    hint=f"Look at it, then replace it with PUT /admin/tools/{draft.slug}.",
                    current=_package(present),
                )
            with taken(f"The package {draft.slug!r} is installed already; it was not changed."):
                return _package(await rows.one(connection, statement))

    async def replace(self, draft: PackageDraft) -> Package:
        values = {name: getattr(draft, name) for name in _DRAFTED if name != "slug"}
        return await self._write(draft.slug, {**values, "last_test": None})

    async def find(self, slug: str) -> Package | None:
        async with self._database.read() as connection:
            row = await rows.maybe(connection, _chosen(slug))
        return _package(row) if row else None

    async def list(self, *, after: str = "", limit: int = 200) -> Sequence[Package]:
        chosen = (
            select(packages).where(packages.c.slug > after).order_by(packages.c.slug).limit(limit)
        )
        async with self._database.read() as connection:
            return [_package(row) for row in await rows.many(connection, chosen)]

    async def update(self, slug: str, changes: Mapping[str, Any]) -> Package:
        return await self._write(slug, rows.checked_changes(changes, {"enabled", "last_test"}))

    async def delete(self, slug: str) -> bool:
        statement = delete(packages).where(packages.c.slug == slug)
        async with self._database.write() as connection:
            return await rows.affected(connection, statement) > 0

    async def using(self, secret: str) -> Sequence[str]:
        chosen = select(packages.c.slug, packages.c.config).order_by(packages.c.slug)
        async with self._database.read() as connection:
            found = await rows.many(connection, chosen)
        return [row["slug"] for row in found if secret in needs(row["config"], SECRETS)]

    async def _write(self, slug: str, values: Mapping[str, Any]) -> Package:
        statement = (
            update(packages)
            .where(packages.c.slug == slug)
            .values(**values, version=packages.c.version + 1)
            .returning(*packages.c)
        )
        async with self._database.write() as connection:
            row = await rows.maybe(connection, statement)
        if row is None:
            raise NotFound(f"There is no package {slug!r}.")
        return _package(row)


def _chosen(slug: str) -> Any:
    return select(packages).where(packages.c.slug == slug)


def _package(row: RowMapping) -> Package:
    return Package(**row)
