"""This module keeps the names under which agents know the tools of servers and packages."""

from __future__ import annotations

from collections.abc import Mapping

from sqlalchemy import select

from toolcrib.resolution.naming import Original
from toolcrib.storage import rows
from toolcrib.storage.database import Database
from toolcrib.storage.failures import taken
from toolcrib.storage.tables import exposed_names


class SqlExposedNames:
    """ExposedNames in SQL."""

    def __init__(self, database: Database) -> None:
        self._database = database

    async def known(self, agent_id: int) -> Mapping[Original, str]:
        chosen = select(exposed_names).where(exposed_names.c.agent_id == agent_id)
        async with self._database.read() as connection:
            found = await rows.many(connection, chosen)
        return {(row["source"], row["original"]): row["exposed"] for row in found}

    async def keep(self, agent_id: int, names: Mapping[Original, str]) -> None:
        async with self._database.write() as connection:
            for (source, original), exposed in sorted(names.items()):
                key = {"agent_id": agent_id, "source": source, "original": original}
                statement = rows.upsert(
                    exposed_names,
                    {**key, "exposed": exposed},
                    key=tuple(key),
                    otherwise={"exposed": exposed},
                    kind=self._database.address.kind,
                )
                with taken(f"The name {exposed!r} is another tool's on agent {agent_id}."):
                    await connection.execute(statement)
