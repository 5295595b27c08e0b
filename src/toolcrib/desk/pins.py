"""This module shows people the pins of their tools, and takes their word on changed ones."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass

from toolcrib.catalog.capabilities import Capability, CapabilityStore, Reach
from toolcrib.catalog.changes import Change
from toolcrib.catalog.diff import differences
from toolcrib.catalog.judging import Rules
from toolcrib.catalog.lookalikes import Lookalikes, find_lookalikes
from toolcrib.catalog.pins import OF_CAPABILITIES, Pin, PinState, PinStore
from toolcrib.coordination.signals import Signals
from toolcrib.desk.reach import require_installation
from toolcrib.errors import Conflict, InvalidRequest, NotFound
from toolcrib.grants.decide import INSTALLATION, decide, of_capability
from toolcrib.identity.caller import Caller
from toolcrib.tools.turns import aside

LIVE: tuple[PinState, ...] = ("accepted", "held")
_ALL: tuple[PinState, ...] = (*LIVE, "retired", "released")
_PAGE = 200


@dataclass(frozen=True, kw_only=True, slots=True)
class PinDiff:
    """A definition beside the accepted one, None where none ever was."""

    pin: Pin
    base: Pin | None
    changes: Sequence[Change]


class Pins:
    """Who may change a definition may see and decide about its pins; nobody else sees them."""

    def __init__(
        self, *, pins: PinStore, capabilities: CapabilityStore, rules: Rules, signals: Signals
    ) -> None:
        self._pins = pins
        self._capabilities = capabilities
        self._rules = rules
        self._signals = signals

    async def list(
        self,
        caller: Caller,
        *,
        states: Collection[PinState] = LIVE,
        after: int = 0,
        limit: int = 50,
    ) -> Sequence[Pin]:
        """By id."""
        sources = None if caller.is_super_admin else await self._sources(caller)
        found: list[Pin] = []
        while len(found) < limit and sources != set():
            page = await self._pins.list(states=states, sources=sources, after=after, limit=_PAGE)
            found += await self._theirs(caller, page)
            if len(page) < _PAGE:
                break
            after = page[-1].id
        return found[:limit]

    async def of_tool(self, caller: Caller, ref: str) -> Sequence[Pin]:
        """Every pin of a tool, newest first. Raises NotFound, Conflict for a ref of several."""
        found = await self._theirs(caller, await self._pins.list(states=_ALL, ref=ref))
        if not found:
            raise NotFound(
                f"There is no pin of {ref!r}.",
                hint="GET /api/v1/pins?state=held lists the held ones.",
            )
        keys = sorted({pin.key for pin in found})
        if len(keys) > 1:
            raise Conflict(
                f"{len(keys)} tools are called {ref!r}.", hint=f"Say which: {', '.join(keys)}."
            )
        return sorted(found, key=lambda pin: pin.id, reverse=True)

    async def diff(self, caller: Caller, ref: str, *, fingerprint: str | None = None) -> PinDiff:
        """What waits, or the definition of this fingerprint, beside what is accepted.

        Raises NotFound where nothing waits.
        """
        pins = await self.of_tool(caller, ref)
        return _diff(_chosen(pins, ref, fingerprint), pins)

    async def accept(
        self, caller: Caller, ref: str, *, fingerprint: str | None, keeps_others: bool = False
    ) -> Pin:
        """Accept the definition that the caller saw, in place of the tool's others unless kept.

        `fingerprint` names it, with or without the quotes of an ETag. Raises NotFound,
        InvalidRequest without one, Conflict when something else waits by now or only the lock may
        decide.
        """
        pins = await self.of_tool(caller, ref)
        fingerprint = _required(fingerprint)
        pin = next((one for one in pins if one.fingerprint == fingerprint), None)
        if pin is None or pin.state == "accepted":
            raise Conflict(
                f"No definition of {ref} with the fingerprint {fingerprint} waits.",
                hint="Look at the diff again: the tool may have changed once more.",
                current=next((one for one in pins if one.state == "held"), pins[0]),
            )
        if self._rules.policy == "block":
            raise Conflict(
                "TOOLCRIB_PINS is `block`: a definition is accepted by the lock alone.",
                hint="Apply a tools.lock that names it.",
            )
        accepted = await self._pins.accept(
            pin, how="person", user_id=caller.user_id, keeps_others=keeps_others
        )
        await self._signals.bump("pins")
        return accepted

    async def forget(self, caller: Caller, ref: str, *, fingerprint: str | None = None) -> None:
        """Delete a tool's pins, or one: what is seen next is a first sight again."""
        pins = await self.of_tool(caller, ref)
        if self._rules.policy == "block" and not caller.is_super_admin:
            raise Conflict("TOOLCRIB_PINS is `block`: ask a super-admin.")
        if fingerprint is not None:
            _chosen(pins, ref, fingerprint)
        await self._pins.forget(pins[0].source, name=pins[0].name, fingerprint=fingerprint)
        await self._signals.bump("pins")

    async def lookalikes(self, caller: Caller) -> Sequence[Lookalikes]:
        """Duplicates and near-duplicates among all tools. Raises NotGranted for who is no
        super-admin: the answer spans every group."""
        require_installation(caller, "change", what="all tools")
        pins = await self.everything(caller)
        return await aside(len(pins), lambda: find_lookalikes(pins))

    async def everything(self, caller: Caller) -> Sequence[Pin]:
        """Accepted and held pins within the caller's reach."""
        return await self.list(caller, limit=1_000_000)

    async def held(self, sources: Collection[str]) -> Mapping[str, Sequence[Pin]]:
        """What waits, by source; the sources are within the caller's reach already."""
        found: dict[str, list[Pin]] = {source: [] for source in sources}
        for pin in await self._pins.list(states=("held",), sources=sources, limit=1000):
            found[pin.source].append(pin)
        return found

    async def gone(self, source: str) -> None:
        """The source is deleted."""
        if await self._pins.forget(source):
            await self._signals.bump("pins")

    async def _sources(self, caller: Caller) -> set[str]:
        """Sources whose definitions the caller may change."""
        reach = Reach(group_ids=caller.group_ids, owner_id=caller.user_id)
        found: set[str] = set()
        after = 0
        while True:
            page = await self._capabilities.list(
                reach=reach, archived=True, after=after, limit=_PAGE
            )
            found |= {
                f"{row.type}:{row.id}"
                for row in page
                if row.type in OF_CAPABILITIES and decide(caller, "change", of_capability(row))
            }
            if len(page) < _PAGE:
                return found
            after = page[-1].id

    async def _theirs(self, caller: Caller, pins: Sequence[Pin]) -> list[Pin]:
        numbers = {n for pin in pins if (n := _capability_id(pin)) is not None}
        rows = {row.id: row for row in await self._capabilities.find_many(sorted(numbers))}
        return [pin for pin in pins if _may_decide(caller, pin, rows)]


def _may_decide(caller: Caller, pin: Pin, rows: Mapping[int, Capability]) -> bool:
    number = _capability_id(pin)
    if number is None:
        return bool(decide(caller, "change", INSTALLATION))
    row = rows.get(number)
    return row is not None and bool(decide(caller, "change", of_capability(row)))


def _capability_id(pin: Pin) -> int | None:
    kind, _, number = pin.source.partition(":")
    return int(number) if kind in OF_CAPABILITIES and number.isdecimal() else None


def _chosen(pins: Sequence[Pin], ref: str, fingerprint: str | None) -> Pin:
    for pin in pins:
        if pin.state == "held" if fingerprint is None else pin.fingerprint == fingerprint:
            return pin
    if fingerprint is None:
        raise NotFound(f"Nothing of {ref!r} waits to be accepted.")
    raise NotFound(f"{ref!r} never had the fingerprint {fingerprint!r}.")


def _diff(pin: Pin, pins: Sequence[Pin]) -> PinDiff:
    others = [one for one in pins if one.id != pin.id]
    accepted = [one for one in others if one.state == "accepted"]
    past = [one for one in others if one.state in {"retired", "released"}]
    base = next(iter(accepted or past), None)
    return PinDiff(
        pin=pin, base=base, changes=differences(base and base.definition, pin.definition)
    )


def _required(if_match: str | None) -> str:
    given = (if_match or "").strip().removeprefix("W/").strip('"')
    if not given.startswith("sha256:"):
        raise InvalidRequest(
            "If-Match must name the fingerprint of the definition that was looked at.",
            where="If-Match",
            hint='The diff answers it as its ETag: If-Match: "sha256:…".',
        )
    return given
