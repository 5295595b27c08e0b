"""This module decides whether a definition that nobody accepted yet may be used."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from toolcrib.catalog.changes import Change
from toolcrib.catalog.diff import differences, is_code_only, is_text_only, summary_of
from toolcrib.catalog.pins import BEHIND, Decision, Pin, Sighting

Policy = Literal["off", "block", "hold", "accept_text"]
"""What happens to a changed definition: nothing; refused until the lock names it; held until a
person accepts it; the same unless only text changed."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Rules:
    """`trusts_first_sight`: a tool that was never seen before is accepted as it is."""

    policy: Policy = "hold"
    trusts_first_sight: bool = True

    def judge(self, known: Sequence[Pin], sighting: Sighting) -> Decision:
        """`known` are the pins of the sighting's tool, oldest first."""
        own = next((pin for pin in known if pin.fingerprint == sighting.fingerprint), None)
        if own is not None and own.state == "accepted":
            return Decision(state="accepted", how=own.how, decided_by=own.decided_by)
        accepted = [pin for pin in known if pin.state == "accepted"]
        released = next((pin for pin in reversed(known) if pin.state == "released"), None)
        if released is not None and not accepted and self.policy != "block":
            return Decision(state="accepted", how="owner", decided_by=released.decided_by)
        if not known:
            return self._first(sighting)
        base = _newest(accepted) or _newest([p for p in known if p.state != "held"])
        changes = differences(base and base.definition, sighting.definition)
        if base is not None and (how := self._by_rule(changes, sighting)) is not None:
            return Decision(state="accepted", how=how, summary=summary_of(changes))
        return Decision(state="held", how="changed" if base else "new", summary=summary_of(changes))

    def _first(self, sighting: Sighting) -> Decision:
        if self.trusts_first_sight:
            return Decision(state="accepted", how="first sight")
        odd = summary_of(differences(None, sighting.definition))
        return Decision(state="held", how="new", summary=odd)

    def _by_rule(
        self, changes: Sequence[Change], sighting: Sighting
    ) -> Literal["policy", "code"] | None:
        """Which rule accepts these changes; None: a person must."""
        if self.policy == "block":
            return None
        if _is_of_this_process(sighting) or is_code_only(changes):
            return "code"
        return "policy" if self.policy == "accept_text" and is_text_only(changes) else None


def _is_of_this_process(sighting: Sighting) -> bool:
    """Tools that the running program brings itself are part of that program: those it registers,
    those in the box, and those of a folder that their author works in."""
    behind = sighting.definition.get(BEHIND)
    if not sighting.source.startswith("native:"):
        return False
    return behind is None or behind.get("distribution") == "toolcrib" or "editable" in behind


def _newest(pins: Sequence[Pin]) -> Pin | None:
    return max(pins, key=lambda pin: (pin.decided_at or pin.seen_at, pin.id), default=None)
