"""This module holds back the tools whose definition nobody accepted: those alone, no others.

What is pinned of a source is read once and remembered until a pin changes, so resolving costs a
look into a table, and a call nothing at all.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace

import structlog

from toolcrib.catalog.judging import Rules
from toolcrib.catalog.packages import slug_of
from toolcrib.catalog.pins import (
    PinMark,
    PinStore,
    Sighting,
    fingerprint_of,
    sighting_of,
    source_of,
)
from toolcrib.tools.source import Bundle, Hold, Offer, ref

_log = structlog.get_logger(__name__)
Brought = tuple[Bundle, int | None]
"""A bundle and the id of the capability that brought it."""
_QUIET = frozenset({"first sight", "owner", "person", "lock", "code"})
"""Decisions that nobody need hear of."""
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
        """The same bundles; what is held back has a `hold` and its siblings have none."""
        if self.rules.policy == "off":
            return list(brought)
        return [(await self._sifted(one, number), number) for one, number in brought]

    async def _sifted(self, bundle: Bundle, capability_id: int | None) -> Bundle:
        source = source_of(bundle.kind, slug_of(bundle.code) or bundle.code, capability_id)
        if source is None or not bundle.offers:
            return bundle
        holds = await self._holds(source, bundle)
        if not holds:
            return bundle
        offers = [
            replace(offer, hold=holds[number]) if number in holds else offer
            for number, offer in enumerate(bundle.offers)
        ]
        return replace(bundle, offers=offers)

    async def _holds(self, source: str, bundle: Bundle) -> dict[int, Hold]:
        """By the offer's place. Of several with one name the first counts: the rest lose anyway."""
        prints, holds = _fingerprints(bundle.offers)
        marks = await self._marks(source)
        unsettled = [n for n, key in prints.items() if not self._is_settled(source, marks.get(key))]
        self._judged.add(source)
        if unsettled:
            sightings: list[Sighting] = []
            for number in unsettled:
                sighting = _sighting(source, bundle, bundle.offers[number])
                if sighting is None:
                    holds[number] = _UNREADABLE
                else:
                    sightings.append(sighting)
            marks = await self._settled(source, sightings)
        for number, key in prints.items():
            mark = marks.get(key)
            if number not in holds and (mark is None or mark.state != "accepted"):
                where = ref(bundle.kind, bundle.code, bundle.offers[number].spec.name)
                holds[number] = _hold(where, mark, self.rules)
        return holds

    def _is_settled(self, source: str, mark: PinMark | None) -> bool:
        """What waits is judged again once by every process: it may have other rules."""
        return mark is not None and (mark.state == "accepted" or source in self._judged)

    async def _settled(self, source: str, sightings: Sequence[Sighting]) -> _Marks:
        await self._pins.settle(source, sightings, self.rules.judge)
        self._known.pop(source, None)
        marks = await self._marks(source)
        for sighting in sightings:
            mark = marks.get((sighting.name, sighting.fingerprint))
            if mark is not None and mark.how not in _QUIET:
                _log.warning(
                    "definition changed", tool=sighting.ref, state=mark.state, how=mark.how
                )
        return marks

    async def _marks(self, source: str) -> _Marks:
        generation = self._generation()
        known = self._known.get(source)
        if known is None or known[0] != generation:
            found = await self._pins.marks(source)
            known = (generation, {(mark.name, mark.fingerprint): mark for mark in found})
            self._known[source] = known
        return known[1]


def _fingerprints(
    offers: Sequence[Offer],
) -> tuple[dict[int, tuple[str, str]], dict[int, Hold]]:
    """`(name, fingerprint)` by place, and holds for what has no fingerprint."""
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
        sighting = sighting_of(source, offer.spec, where, offer.provenance)
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
