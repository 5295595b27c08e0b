"""This module keeps pins: what tools were accepted as, and what waits for a person."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Mapping, Sequence
from typing import Any

from sqlalchemy import and_, delete, insert, or_, select, update
from sqlalchemy.ext.asyncio import AsyncConnection

from toolcrib.catalog.pins import (
    Decision,
    How,
    Judge,
    Pin,
    PinMark,
    PinState,
    Sighting,
)
from toolcrib.errors import Conflict
from toolcrib.storage import rows
from toolcrib.storage.database import Database
from toolcrib.storage.pin_rows import (
    AT_ONCE,
    end_releases,
    known_pins,
    make_room,
    pin_of,
    portions,
    require_current,
    retiring,
    row_of,
    wait_for,
)
from toolcrib.storage.tables import pins
from toolcrib.tools.turns import Turns

_MARKED = ("name", "fingerprint", "state", "how", "summary", "decided_at")


class SqlPinStore:
    """PinStore in SQL."""

    def __init__(self, database: Database) -> None:
        self._database = database

    async def marks(self, sources: Collection[str]) -> Mapping[str, Sequence[PinMark]]:
        found: dict[str, list[PinMark]] = {source: [] for source in sources}
        asked = list(found)
        async with self._database.read() as connection:
            for start in range(0, len(asked), AT_ONCE):
                chosen = select(pins.c.source, *(pins.c[name] for name in _MARKED)).where(
                    pins.c.source.in_(asked[start : start + AT_ONCE]),
                    pins.c.state.in_(("accepted", "held")),
                )
                for source, *mark in (await connection.execute(chosen)).all():
                    found[source].append(PinMark(**dict(zip(_MARKED, mark, strict=True))))
        return found

    async def settle(self, sightings: Sequence[Sighting], judge: Judge) -> None:
        for portion in portions(sightings):
            async with self._database.write() as connection:
                await self._settle(connection, portion, judge)

    async def _settle(
        self, connection: AsyncConnection, sightings: Sequence[Sighting], judge: Judge
    ) -> None:
        for source in sorted({one.source for one in sightings}):
            await wait_for(connection, source)
        await require_current(connection, sightings)
        known = await known_pins(connection, sightings)
        fresh: list[dict[str, Any]] = []
        turns = Turns()
        for sighting in sightings:
            mine = known[sighting.source, sighting.name]
            decision = judge(mine, sighting)
            own = next((p for p in mine if p.fingerprint == sighting.fingerprint), None)
            if own is None:
                await make_room(connection, mine)
                fresh.append(row_of(sighting, decision, self._database.now()))
            else:
                await self._decide(connection, own, decision)
            if decision.state == "accepted":
                await end_releases(connection, mine)
            await turns.next()
        for start in range(0, len(fresh), AT_ONCE):
            await connection.execute(insert(pins), fresh[start : start + AT_ONCE])

    async def list(
        self,
        *,
        states: Collection[PinState] = ("accepted", "held"),
        sources: Collection[str] | None = None,
        ref: str | None = None,
        after: int = 0,
        limit: int = 200,
    ) -> Sequence[Pin]:
        chosen = (
            select(pins)
            .where(pins.c.id > after, pins.c.state.in_(sorted(states)))
            .order_by(pins.c.id)
            .limit(limit)
        )
        if sources is not None:
            chosen = chosen.where(pins.c.source.in_(sorted(sources)))
        if ref is not None:
            source, _, name = ref.partition("/")
            own = and_(pins.c.source == source, pins.c.name == name)
            chosen = chosen.where(or_(pins.c.ref == ref, own))
        async with self._database.read() as connection:
            return [pin_of(row) for row in await rows.many(connection, chosen)]

    async def accept(
        self, pin: Pin, *, how: How, user_id: int | None, keeps_others: bool = False
    ) -> Pin:
        now = self._database.now()
        accepting = (
            update(pins)
            .where(pins.c.id == pin.id, pins.c.state == pin.state)
            .values(state="accepted", how=how, decided_at=now, decided_by=user_id)
            .returning(*pins.c)
        )
        async with self._database.write() as connection:
            row = await rows.maybe(connection, accepting)
            if row is None:
                raise Conflict(
                    f"The pin of {pin.ref} was decided about meanwhile.", hint="Look at it again."
                )
            statement = retiring(pin.source, pin.name, [pin.id], keeps_others=keeps_others)
            await connection.execute(statement)
        return pin_of(row)

    async def add_accepted(
        self, sightings: Sequence[Sighting], *, how: How, user_id: int | None
    ) -> None:
        tools: defaultdict[tuple[str, str], list[Sighting]] = defaultdict(list)
        for sighting in sightings:
            tools[sighting.source, sighting.name].append(sighting)
        decision = Decision(state="accepted", how=how, decided_by=user_id)
        async with self._database.write() as connection:
            for source in sorted({source for source, _ in tools}):
                await wait_for(connection, source)
            for (source, name), mine in tools.items():
                kept = [await self._put(connection, one, decision) for one in mine]
                await connection.execute(retiring(source, name, kept, keeps_others=False))

    async def _put(
        self, connection: AsyncConnection, sighting: Sighting, decision: Decision
    ) -> int:
        row = row_of(sighting, decision, self._database.now())
        changed = {k: row[k] for k in ("state", "how", "decided_at", "decided_by")}
        statement = rows.upsert(
            pins,
            row,
            key=("source", "name", "fingerprint"),
            otherwise=changed,
            kind=self._database.address.kind,
        )
        return (await connection.execute(statement.returning(pins.c.id))).scalar_one()

    async def forget(
        self, source: str, *, name: str | None = None, fingerprint: str | None = None
    ) -> int:
        statement = delete(pins).where(pins.c.source == source)
        if name is not None:
            statement = statement.where(pins.c.name == name)
        if fingerprint is not None:
            statement = statement.where(pins.c.fingerprint == fingerprint)
        async with self._database.write() as connection:
            return await rows.affected(connection, statement)

    async def _decide(self, connection: AsyncConnection, own: Pin, decision: Decision) -> None:
        if own.state == decision.state:
            return
        values: dict[str, Any] = {
            "state": decision.state,
            "how": decision.how,
            "summary": decision.summary,
            "decided_by": decision.decided_by,
            "decided_at": self._database.now() if decision.state == "accepted" else None,
        }
        await connection.execute(update(pins).where(pins.c.id == own.id).values(**values))
