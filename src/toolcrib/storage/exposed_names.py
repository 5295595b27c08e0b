"""This module keeps the names under which agents know the tools of servers and packages."""

from __future__ import annotations

from collections.abc import Mapping

from sqlalchemy import bindparam, literal_column, select

from toolcrib.resolution.naming import Original
from toolcrib.storage import rows
from toolcrib.storage.database import Database
from toolcrib.storage.failures import taken
from toolcrib.storage.tables import exposed_names

_AT_ONCE, _SHOWN = 500, 5


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
        if not names:
            return
        values = [
            {"agent_id": agent_id, "source": source, "original": original, "exposed": exposed}
            for (source, original), exposed in sorted(names.items())
        ]
        statement = rows.upsert(
            exposed_names,
            {name: bindparam(name) for name in values[0]},
            key=("agent_id", "source", "original"),
            otherwise={"exposed": literal_column("excluded.exposed")},
            kind=self._database.address.kind,
        )
        # Thousands come with a large server: one by one, each would switch tasks twice.
        async with self._database.write() as connection:
            for start in range(0, len(values), _AT_ONCE):
                some = values[start : start + _AT_ONCE]
                shown = ", ".join(repr(one["exposed"]) for one in some[:_SHOWN])
                with taken(f"One of these names is another tool's on agent {agent_id}: {shown}."):
                    await connection.execute(statement, some)
