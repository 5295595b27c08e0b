"""This module is what Alembic runs: on the connection it is handed, else on `-x url=…`."""

from __future__ import annotations

import asyncio

from alembic import context
from sqlalchemy import Connection

from toolcrib.storage import indexes
from toolcrib.storage.address import Address
from toolcrib.storage.engine import make_engine


def migrate(connection: Connection) -> None:
    context.configure(connection=connection, target_metadata=indexes.metadata)
    with context.begin_transaction():
        context.run_migrations()


async def migrate_by_address(url: str) -> None:
    engine = make_engine(Address.of(url), migrating=True)
    async with engine.begin() as connection:
        await connection.run_sync(migrate)
    await engine.dispose()


handed = context.config.attributes.get("connection")
if handed is not None:
    migrate(handed)
elif context.is_offline_mode():
    raise SystemExit("Offline mode has no database to read the present revision from.")
else:
    given = context.get_x_argument(as_dictionary=True).get("url")
    if not given:
        raise SystemExit("Name the database: alembic -x url=sqlite:///PATH …")
    asyncio.run(migrate_by_address(str(given)))
