"""This module keeps the pins of one tool in order: what is known, what ends, what is forgotten."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Sequence
from datetime import datetime
from typing import Any

from sqlalchemy import RowMapping, and_, delete, or_, select, text, update
from sqlalchemy.ext.asyncio import AsyncConnection

from toolcrib.catalog.pins import (
    MOST_OF_A_TOOL,
    OF_CAPABILITIES,
    Decision,
    Pin,
    PinState,
    Sighting,
)
from toolcrib.errors import Conflict
from toolcrib.storage import rows
from toolcrib.storage.tables import capabilities, packages, pins

AT_ONCE = 500
"""Values of one statement."""


async def known_pins(
    connection: AsyncConnection, sightings: Sequence[Sighting]
) -> defaultdict[tuple[str, str], list[Pin]]:
    """The pins of the tools that were seen, by source and name, oldest first."""
    sources, names = {one.source for one in sightings}, {one.name for one in sightings}
    chosen = select(pins).where(pins.c.source.in_(sorted(sources))).order_by(pins.c.id)
    if len(names) <= AT_ONCE:
        chosen = chosen.where(pins.c.name.in_(sorted(names)))
    found: defaultdict[tuple[str, str], list[Pin]] = defaultdict(list)
    for row in await rows.many(connection, chosen):
        found[row["source"], row["name"]].append(pin_of(row))
    return found


def portions(sightings: Sequence[Sighting]) -> Iterator[list[Sighting]]:
    """What one transaction settles: all of a source, and of others as long as they are few."""
    sources: defaultdict[str, list[Sighting]] = defaultdict(list)
    for one in sightings:
        sources[one.source].append(one)
    portion: list[Sighting] = []
    for mine in sources.values():
        if portion and len(portion) + len(mine) > AT_ONCE:
            yield portion
            portion = []
        portion += mine
    if portion:
        yield portion


async def wait_for(connection: AsyncConnection, source: str) -> None:
    """Until nobody else decides about the source's pins. SQLite has one writer anyway."""
    if connection.dialect.name == "postgresql":
        lock = text("SELECT pg_advisory_xact_lock(hashtext(:place))")
        await connection.execute(lock, {"place": f"toolcrib pins {source}"})


async def require_current(connection: AsyncConnection, sightings: Sequence[Sighting]) -> None:
    """Raises Conflict for a definition whose row has another version by now, or is gone."""
    read = {one.source: one.version for one in sightings if one.version is not None}
    places = {source: source.partition(":") for source in read}
    slugs = [name for kind, _, name in places.values() if kind == "package"]
    ids = [int(name) for kind, _, name in places.values() if kind in OF_CAPABILITIES]
    now: dict[str, int] = {}
    for start in range(0, len(slugs), AT_ONCE):
        chosen = select(packages.c.slug, packages.c.version).where(
            packages.c.slug.in_(slugs[start : start + AT_ONCE])
        )
        now |= {f"package:{slug}": v for slug, v in (await connection.execute(chosen)).all()}
    for start in range(0, len(ids), AT_ONCE):
        chosen = select(capabilities.c.type, capabilities.c.id, capabilities.c.version).where(
            capabilities.c.id.in_(ids[start : start + AT_ONCE])
        )
        now |= {f"{kind}:{id_}": v for kind, id_, v in (await connection.execute(chosen)).all()}
    for source, version in read.items():
        if now.get(source) != version:
            raise Conflict(f"{source} was changed meanwhile.", hint="Ask again.")


async def released(
    connection: AsyncConnection, source: str, *, user_id: int, now: datetime
) -> None:
    """Somebody changes the source's definitions on purpose, in this transaction: the next ones
    are accepted in their name."""
    await wait_for(connection, source)
    await connection.execute(
        update(pins)
        .where(pins.c.source == source)
        .values(state="released", decided_at=now, decided_by=user_id)
    )


async def end_releases(connection: AsyncConnection, known: Sequence[Pin]) -> None:
    """A released pin has done its work once another is accepted in its place."""
    released = [pin.id for pin in known if pin.state == "released"]
    if released:
        statement = update(pins).where(pins.c.id.in_(released), pins.c.state == "released")
        await connection.execute(statement.values(state="retired"))


async def make_room(connection: AsyncConnection, known: Sequence[Pin]) -> None:
    """Forget the oldest of a tool that has many: what waits before what a rule accepted, and
    what a person accepted never."""
    spare = sorted(
        (p for p in known if p.state != "accepted" or p.how == "policy"),
        key=lambda p: (p.state == "accepted", p.id),
    )
    gone = [pin.id for pin in spare][: max(0, len(known) - MOST_OF_A_TOOL + 1)]
    if gone:
        await connection.execute(delete(pins).where(pins.c.id.in_(gone)))


def retiring(source: str, name: str, accepted: Sequence[int], *, keeps_others: bool) -> Any:
    """What a tool's other pins become when some are accepted; older held ones are past anyway."""
    states: list[PinState] = ["released"] if keeps_others else ["released", "accepted"]
    past = and_(pins.c.state == "held", pins.c.id < max(accepted))
    return (
        update(pins)
        .where(pins.c.source == source, pins.c.name == name, pins.c.id.not_in(accepted))
        .where(or_(pins.c.state.in_(states), past))
        .values(state="retired")
    )


def pin_of(row: RowMapping) -> Pin:
    return Pin(**row)


def row_of(sighting: Sighting, decision: Decision, now: datetime) -> dict[str, Any]:
    """A new pin of a tool that was just seen."""
    return {
        "source": sighting.source,
        "name": sighting.name,
        "ref": sighting.ref,
        "fingerprint": sighting.fingerprint,
        "definition": sighting.definition,
        "state": decision.state,
        "how": decision.how,
        "summary": decision.summary,
        "seen_at": now,
        "decided_at": now if decision.state == "accepted" else None,
        "decided_by": decision.decided_by,
    }
