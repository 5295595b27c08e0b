"""This module keeps the generation numbers in a table and follows what other processes bump."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping

import structlog
from sqlalchemy import select

from toolcrib.coordination.signals import Listener, Topic
from toolcrib.storage import rows
from toolcrib.storage.database import Database
from toolcrib.storage.tables import generations

log = structlog.get_logger(__name__)


class SqlSignals:
    """Signals in SQL. `interval` is in seconds: how stale this process can be."""

    def __init__(self, database: Database, *, interval: float = 1.0) -> None:
        self._database = database
        self._interval = interval
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
        await self._learn({topic: number})
        return number

    def subscribe(self, listener: Listener) -> None:
        """A listener that raises is logged; the others are still told."""
        self._listeners.append(listener)

    async def run(self) -> None:
        """A poll that fails is logged and tried again: the database may be back next time."""
        away = False
        while True:
            await asyncio.sleep(self._interval)
            try:
                await self.refresh()
            except Exception as error:  # noqa: BLE001 - whatever it is, following must go on
                if not away:
                    log.warning("signals.poll_failed", error=str(error))
                away = True
            else:
                if away:
                    log.info("signals.poll_recovered")
                away = False

    async def refresh(self) -> None:
        async with self._database.read() as connection:
            found = await rows.many(connection, select(generations))
        await self._learn({row["topic"]: row["number"] for row in found})

    async def _learn(self, numbers: Mapping[Topic, int]) -> None:
        grown: list[Topic] = [
            topic for topic, number in numbers.items() if number > self.generation(topic)
        ]
        for topic in grown:
            self._numbers[topic] = numbers[topic]
        self._total = sum(self._numbers.values())
        for topic in grown:
            for listener in self._listeners:
                try:
                    await listener(topic)
                except Exception:
                    log.exception("signals.listener_failed", topic=topic)
