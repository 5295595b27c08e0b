"""This module keeps installed packages by their slug.

What was granted to a package goes with it, in the same transaction: another package that comes
under the slug later is another tool, and nobody gave it to anyone.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import fields
from datetime import datetime
from typing import Any

from sqlalchemy import RowMapping, Text, cast, delete, insert, select, update
from sqlalchemy.exc import IntegrityError
from sqlalchemy.ext.asyncio import AsyncConnection

from toolcrib.catalog.capabilities import split_codes
from toolcrib.catalog.packages import Package, PackageDraft, code_of
from toolcrib.errors import Conflict
from toolcrib.secrets.placeholders import SECRETS, needs
from toolcrib.storage import rows
from toolcrib.storage.database import Database
from toolcrib.storage.failures import taken
from toolcrib.storage.pin_rows import released
from toolcrib.storage.tables import agents, capabilities, capability_codes, packages

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

    async def replace(
        self,
        draft: PackageDraft,
        *,
        expected_version: int | None = None,
        released_by: int | None = None,
    ) -> Package:
        values = {name: getattr(draft, name) for name in _DRAFTED if name != "slug"}
        changed = {**values, "last_test": None}
        return await self._write(draft.slug, changed, expected_version, released_by)

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

    async def delete(self, slug: str, *, expected_version: int | None = None) -> bool:
        chosen = packages.c.slug == slug
        async with self._database.write() as connection:
            if not await rows.removed(connection, packages, chosen, expected=expected_version):
                if await rows.maybe(connection, _chosen(slug)) is None:
                    return False
                raise await _unchanged(connection, slug, expected_version)
            await _take_from_agents(connection, code_of(slug))
            await _take_from_capabilities(connection, code_of(slug), self._database.now())
        return True

    async def using(self, secret: str) -> Sequence[str]:
        chosen = select(packages.c.slug, packages.c.config).order_by(packages.c.slug)
        async with self._database.read() as connection:
            found = await rows.many(connection, chosen)
        return [row["slug"] for row in found if secret in needs(row["config"], SECRETS)]

    async def _write(
        self,
        slug: str,
        values: Mapping[str, Any],
        expected: int | None = None,
        released_by: int | None = None,
    ) -> Package:
        statement = (
            update(packages)
            .where(packages.c.slug == slug)
            .values(**values, version=packages.c.version + 1)
            .returning(*packages.c)
        )
        if expected is not None:
            statement = statement.where(packages.c.version == expected)
        async with self._database.write() as connection:
            row = await rows.maybe(connection, statement)
            if row is None:
                raise await _unchanged(connection, slug, expected)
            if released_by is not None:
                now = self._database.now()
                await released(connection, f"package:{slug}", user_id=released_by, now=now)
        return _package(row)


async def _unchanged(connection: AsyncConnection, slug: str, expected: int | None) -> Exception:
    row = await rows.maybe(connection, _chosen(slug))
    current = _package(row) if row else None
    return rows.not_changed("package", slug, expected=expected, current=current)


async def _take_from_agents(connection: AsyncConnection, code: str) -> None:
    holding = (
        select(agents.c.id, agents.c.codes)
        .where(cast(agents.c.codes, Text).contains(f'"{code}"', autoescape=True))
        .with_for_update()
    )
    for row in await rows.many(connection, holding):
        kept = [one for one in row["codes"] if one != code]
        await rows.next_version(connection, agents, row["id"], {"codes": kept}, expected=None)


async def _take_from_capabilities(connection: AsyncConnection, code: str, now: datetime) -> None:
    naming = select(capability_codes.c.capability_id).where(capability_codes.c.code == code)
    holding = select(capabilities).where(capabilities.c.id.in_(naming)).with_for_update()
    for row in await rows.many(connection, holding):
        kept = [one for one in split_codes(row["code"]) if one != code]
        if kept and await _written(connection, row["id"], {"code": ",".join(kept)}, now):
            gone = delete(capability_codes).where(
                capability_codes.c.capability_id == row["id"], capability_codes.c.code == code
            )
            await connection.execute(gone)
        else:
            # It granted nothing else, or nothing that another row does not grant: restoring it
            # means granting the code again.
            await _written(connection, row["id"], {"archived": True}, now)


async def _written(
    connection: AsyncConnection, capability_id: int, values: Mapping[str, Any], now: datetime
) -> bool:
    """False when the row would then be the same as another one."""
    changed = {**values, "updated_at": now}
    try:
        async with connection.begin_nested():
            await rows.next_version(connection, capabilities, capability_id, changed, expected=None)
    except IntegrityError:
        return False
    return True


def _chosen(slug: str) -> Any:
    return select(packages).where(packages.c.slug == slug)


def _package(row: RowMapping) -> Package:
    return Package(**row)
