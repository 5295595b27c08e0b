"""This module keeps the generation numbers in a table and follows what other processes bump."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Mapping, Sequence
from typing import Protocol

import structlog
from sqlalchemy import select

from toolcrib.coordination.signals import Listener, Topic
from toolcrib.storage import rows
from toolcrib.storage.database import Database
from toolcrib.storage.tables import generations

log = structlog.get_logger(__name__)


class Bell(Protocol):
    """A quicker way to know of a change than to look. It may lose rings, and never raises."""

    async def ring(self) -> None:
        """Tell the other processes that something changed."""
        ...

    async def listen(self, heard: Callable[[], Awaitable[None]]) -> None:
        """Await `heard()` after each ring of another process, until cancelled."""
        ...


class SqlSignals:
    """Signals in SQL. `interval` is in seconds: how stale this process can be without a bell."""

    def __init__(
        self, database: Database, *, interval: float = 1.0, bell: Bell | None = None
    ) -> None:
        self._database = database
        self._interval = interval
        self._bell = bell
        self._numbers: dict[Topic, int] = {}
        self._total = 0
        self._listeners: list[Listener] = []

    @property
    def total(self) -> int:
        return self._total

    def generation(self, topic: Topic) -> int:
        return self._numbers.get(topic, 0)

    async def bump(self, topic: Topic) -> int:
        statement = rows.upsert(
            generations,
            {"topic": topic, "number": 1},
            key=["topic"],
            otherwise={"number": generations.c.number + 1},
            kind=self._database.address.kind,
        ).returning(generations.c.number)
        async with self._database.write() as connection:
            number = (await connection.execute(statement)).scalar_one()
        grown = self._learn({topic: number})
        if self._bell is not None:
            await self._bell.ring()
        await self._tell(grown)
        return number

    def subscribe(self, listener: Listener) -> None:
        """A listener that raises is logged; the others are still told."""
        self._listeners.append(listener)

    async def run(self) -> None:
        """A look that fails is logged and tried again: the database may be back next time.

        Listeners are told beside it: one that takes long delays no further news.
        """
        async with asyncio.TaskGroup() as group:

            async def look() -> None:
                if grown := await self._read():
                    group.create_task(self._tell(grown))

            if self._bell is not None:
                group.create_task(self._bell.listen(look))
            await self._poll(look)

    async def refresh(self) -> None:
        await self._tell(await self._read())

    async def _poll(self, look: Callable[[], Awaitable[None]]) -> None:
        away = False
        while True:
            await asyncio.sleep(self._interval)
            try:
                await look()
            except Exception as error:  # noqa: BLE001 - whatever it is, following must go on
                if not away:
                    log.warning("signals.poll_failed", error=str(error))
                away = True
            else:
                if away:
                    log.info("signals.poll_recovered")
                away = False

    async def _read(self) -> Sequence[Topic]:
        async with self._database.read() as connection:
            found = await rows.many(connection, select(generations))
        return self._learn({row["topic"]: row["number"] for row in found})

    def _learn(self, numbers: Mapping[Topic, int]) -> Sequence[Topic]:
        """Take over what is newer; returns its topics."""
        grown: list[Topic] = [
            topic for topic, number in numbers.items() if number > self.generation(topic)
        ]
        for topic in grown:
            self._numbers[topic] = numbers[topic]
        self._total = sum(self._numbers.values())
        return grown

    async def _tell(self, topics: Sequence[Topic]) -> None:
        for topic in topics:
            for listener in self._listeners:
                try:
                    await listener(topic)
                except Exception:
                    log.exception("signals.listener_failed", topic=topic)
