"""This module is the open database: transactions that read, transactions that write, the clock."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, Callable
from contextlib import asynccontextmanager, nullcontext
from datetime import UTC, datetime

from sqlalchemy import text
from sqlalchemy.ext.asyncio import AsyncConnection

from toolcrib.storage.address import Address
from toolcrib.storage.engine import READS, make_engine
from toolcrib.storage.failures import translated

Clock = Callable[[], datetime]


def utc_now() -> datetime:
    return datetime.now(UTC)


class Database:
    """What every store shares. A transaction lasts as long as its `async with` block."""

    def __init__(self, address: Address, *, clock: Clock = utc_now) -> None:
        self.address = address
        self.now = clock
        self._engine = make_engine(address)
        self._readers = self._engine.execution_options(**{READS: True})
        # SQLite has one writer at a time and lets others poll: within a process, they queue here.
        self._turn = asyncio.Semaphore(1) if address.kind == "sqlite" else nullcontext()

    @asynccontextmanager
    async def read(self) -> AsyncGenerator[AsyncConnection]:
        with translated(str(self.address)):
            async with self._readers.begin() as connection:
                yield connection

    @asynccontextmanager
    async def write(self) -> AsyncGenerator[AsyncConnection]:
        """Committed at the end of the block, rolled back when it raises."""
        async with self._turn:
            with translated(str(self.address)):
                async with self._engine.begin() as connection:
                    yield connection

    async def ping(self) -> None:
        """Raises SetupError when the database does not answer."""
        async with self.read() as connection:
            await connection.execute(text("SELECT 1"))

    async def close(self) -> None:
        await self._engine.dispose()
