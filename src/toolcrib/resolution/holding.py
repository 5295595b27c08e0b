"""This module holds back the tools whose definition nobody accepted: those alone, no others.

What is pinned of a source is read once and remembered until a pin changes, so resolving costs a
look into a table, and a call nothing at all.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Awaitable, Callable, Collection, Mapping, Sequence
from dataclasses import replace
from typing import TypeVar

import structlog

from toolcrib.catalog.judging import Rules
from toolcrib.catalog.packages import slug_of
from toolcrib.catalog.pins import (
    MOST_OF_A_SOURCE,
    PinMark,
    PinStore,
    Sighting,
    fingerprint_of,
    sighting_of,
    source_of,
)
from toolcrib.errors import Conflict
from toolcrib.tools.source import Bundle, Hold, Offer, ref
from toolcrib.tools.turns import aside

_log = structlog.get_logger(__name__)
Brought = tuple[Bundle, int | None]
"""A bundle and the id of the capability that brought it."""
_QUIET = frozenset({"first sight", "owner", "person", "lock", "code"})
"""Decisions that nobody need hear of."""
_TRIES = 20
"""How often a definition may be replaced while somebody reads it."""
Found = TypeVar("Found")
_Marks = Mapping[tuple[str, str], PinMark]
_UNREADABLE = Hold(
    reason="its definition cannot be kept, for it is no JSON text that a database holds",
    fix="Mend the tool's definition at its source.",
)


class Holding:
    """Looks at every definition before anybody is shown it. `generation` rises with every change
    of a pin that somebody decided about."""

    def __init__(self, pins: PinStore, rules: Rules, generation: Callable[[], int]) -> None:
        self.rules = rules
        self._pins = pins
        self._generation = generation
        self._known: dict[str, tuple[int, _Marks]] = {}
        self._judged: set[str] = set()

    async def sift(self, brought: Sequence[Brought]) -> list[Brought]:
        """The same bundles; what is held back has a `hold` and its siblings have none.

        Raises Conflict when one of them is no more what its row says.
        """
        if self.rules.policy == "off":
            return list(brought)
        sifted = [bundle for bundle, _ in brought]
        for places in _rounds(brought):
            bundles = {source: sifted[place] for source, place in places.items()}
            holds = await self._holds(bundles)
            for source, place in places.items():
                if holds[source]:
                    sifted[place] = _with(sifted[place], holds[source])
        return [(bundle, number) for bundle, (_, number) in zip(sifted, brought, strict=True)]

    async def _holds(self, bundles: Mapping[str, Bundle]) -> Mapping[str, Mapping[int, Hold]]:
        """By source and the offer's place. Of several with one name the first counts: the rest
        lose anyway."""
        count = sum(len(bundle.offers) for bundle in bundles.values())
        looks = await aside(count, lambda: {s: _fingerprints(bundles[s].offers) for s in bundles})
        marks = await self._marks(bundles)
        sightings = await aside(count, lambda: self._unsettled(bundles, looks, marks))
        self._judged.update(bundles)
        if sightings:
            marks = {**marks, **await self._settled(sightings)}
        for source, (prints, holds) in looks.items():
            for number, key in prints.items():
                mark = marks[source].get(key)
                if number not in holds and (mark is None or mark.state != "accepted"):
                    bundle = bundles[source]
                    where = ref(bundle.kind, bundle.code, bundle.offers[number].spec.name)
                    holds[number] = _hold(where, mark, self.rules)
        return {source: holds for source, (_, holds) in looks.items()}

    def _unsettled(
        self, bundles: Mapping[str, Bundle], looks: Mapping[str, _Look], marks: Mapping[str, _Marks]
    ) -> list[Sighting]:
        """What must be judged; what no database can hold is held here."""
        sightings: list[Sighting] = []
        for source, (prints, holds) in looks.items():
            room = MOST_OF_A_SOURCE - len(marks[source])
            for number, key in prints.items():
                mark = marks[source].get(key)
                if self._is_settled(source, mark):
                    continue
                room -= mark is None
                if mark is None and room < 0:
                    holds[number] = _too_many()
                    continue
                sighting = _sighting(source, bundles[source], bundles[source].offers[number])
                if sighting is None:
                    holds[number] = _UNREADABLE
                else:
                    sightings.append(sighting)
        return sightings

    def _is_settled(self, source: str, mark: PinMark | None) -> bool:
        """What waits is judged again once by every process: it may have other rules."""
        return mark is not None and (mark.state == "accepted" or source in self._judged)

    async def _settled(self, sightings: Sequence[Sighting]) -> Mapping[str, _Marks]:
        """Afterwards, the marks of all that they are from.

        Raises Conflict when a definition that was settled has no mark: it was replaced since.
        """
        await self._pins.settle(sightings, self.rules.judge)
        sources = {sighting.source for sighting in sightings}
        for source in sources:
            self._known.pop(source, None)
        marks = await self._marks(sources)
        for sighting in sightings:
            mark = marks[sighting.source].get((sighting.name, sighting.fingerprint))
            if mark is None:
                raise Conflict(f"{sighting.ref} was changed meanwhile.", hint="Ask again.")
            if mark.how not in _QUIET:
                _log.warning(
                    "definition changed", tool=sighting.ref, state=mark.state, how=mark.how
                )
        return marks

    async def _marks(self, sources: Collection[str]) -> dict[str, _Marks]:
        generation = self._generation()
        known = {one: self._known[one] for one in sources if one in self._known}
        found = {one: marks for one, (made_at, marks) in known.items() if made_at == generation}
        asked = [one for one in sources if one not in found]
        if asked:
            for source, several in (await self._pins.marks(asked)).items():
                found[source] = {(mark.name, mark.fingerprint): mark for mark in several}
                self._known[source] = (generation, found[source])
        return found


async def until_current(work: Callable[[], Awaitable[Found]]) -> Found:
    """Read definitions and sift them; again where one was changed in between.

    Raises Conflict where one is changed again and again.
    """
    for _ in range(_TRIES):
        try:
            return await work()
        except Conflict:
            continue
    return await work()


def _too_many() -> Hold:
    return Hold(
        reason=f"its source has shown {MOST_OF_A_SOURCE:,} definitions already; no more are kept",
        fix="Look at the source: `toolcrib lock forget` makes room for what is gone.",
    )


def _rounds(brought: Sequence[Brought]) -> list[dict[str, int]]:
    """Sources to places among what was brought. A source that comes again is looked at in a
    later round: by then it is known what became of the tools that came first."""
    rounds: list[dict[str, int]] = []
    seen = Counter[str]()
    for place, (bundle, capability_id) in enumerate(brought):
        source = source_of(bundle.kind, slug_of(bundle.code) or bundle.code, capability_id)
        if source is None or not bundle.offers:
            continue
        if seen[source] == len(rounds):
            rounds.append({})
        rounds[seen[source]][source] = place
        seen[source] += 1
    return rounds


def _with(bundle: Bundle, holds: Mapping[int, Hold]) -> Bundle:
    offers = [
        replace(offer, hold=holds[number]) if number in holds else offer
        for number, offer in enumerate(bundle.offers)
    ]
    return replace(bundle, offers=offers)


_Look = tuple[dict[int, tuple[str, str]], dict[int, Hold]]
"""`(name, fingerprint)` by place, and holds by place for what has no fingerprint."""


def _fingerprints(offers: Sequence[Offer]) -> _Look:
    prints: dict[int, tuple[str, str]] = {}
    holds: dict[int, Hold] = {}
    seen: set[str] = set()
    for number, offer in enumerate(offers):
        name = offer.spec.name
        if name in seen:
            continue
        seen.add(name)
        try:
            prints[number] = (name, fingerprint_of(offer.spec, offer.provenance))
        except (TypeError, RecursionError):
            holds[number] = _UNREADABLE
    return prints, holds


def _sighting(source: str, bundle: Bundle, offer: Offer) -> Sighting | None:
    """None for what no database holds: NUL in a name, NaN in a schema."""
    where = ref(bundle.kind, bundle.code, offer.spec.name)
    try:
        sighting = sighting_of(source, offer.spec, where, offer.provenance, version=bundle.version)
        json.dumps(sighting.definition, allow_nan=False, default=dict)
        where.encode()
    except (TypeError, ValueError, RecursionError):
        return None
    return None if "\0" in where else sighting


def _hold(where: str, mark: PinMark | None, rules: Rules) -> Hold:
    """The words show nothing of the definition: nobody accepted what it says."""
    differs = f": {mark.summary}" if mark is not None and mark.summary else ""
    reason = f"its definition changed since it was accepted{differs}"
    if mark is not None and mark.how == "new":
        reason = f"nobody accepted its definition yet{differs}"
    fix = f"`toolcrib lock diff {where}` shows it; a person accepts it with `toolcrib lock accept`."
    if rules.policy == "block":
        fix = "Change the tool back, or apply a tools.lock that names it: `toolcrib lock apply`."
    return Hold(reason=reason, fix=fix)
