"""This module asks, for one capability, which bundles it brings to one caller now."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import chain
from typing import Protocol, runtime_checkable

from toolcrib.catalog.capabilities import Capability
from toolcrib.catalog.packages import slug_of
from toolcrib.resolution.conditions import BUILT_IN, Condition, Situation, belongs_under
from toolcrib.resolution.toolset import Absence
from toolcrib.tools.source import Bundle

Found = tuple[Sequence[Bundle], Sequence[Absence]]


class Provider(Protocol):
    """Brings the bundles of one type of capability. It answers "is there one?", never a value."""

    async def find(self, capability: Capability, situation: Situation) -> Found: ...


@runtime_checkable
class Preparing(Protocol):
    """A provider that may have much to do before it can answer without waiting."""

    async def prepare(self, capabilities: Sequence[Capability]) -> None:
        """Do it for all of these, in turns with whatever else runs."""
        ...


class Shelf(Protocol):
    """Registered Python tools by code, as they are now."""

    def bundle(self, code: str) -> Bundle | None: ...

    async def prepare(self, codes: Iterable[str]) -> None:
        """Make what `bundle` gives for these codes, in turns with whatever else runs."""
        ...

    def codes(self) -> Sequence[str]: ...

    def conditions(self) -> Mapping[str, Condition]:
        """What plugins added to the table of conditions."""
        ...


class Installed(Protocol):
    """Installed packages by slug."""

    async def find(self, slug: str) -> Bundle | Absence: ...


@dataclass(frozen=True, slots=True)
class InternalProvider:
    """Capabilities of type internal: codes, runtime conditions, then the shelf.

    A code `installed__<slug>` is an installed package's, and no plugin can take it.
    """

    shelf: Shelf
    installed: Installed | None = None

    async def prepare(self, capabilities: Sequence[Capability]) -> None:
        await self.shelf.prepare(chain.from_iterable(one.codes for one in capabilities))

    async def find(self, capability: Capability, situation: Situation) -> Found:
        bundles: list[Bundle] = []
        absences: list[Absence] = []
        conditions = {**BUILT_IN, **self.shelf.conditions()}
        packages = await self._packages(capability.codes)
        for code in capability.codes:
            if code in packages:
                found = packages[code]
                if isinstance(found, Bundle):
                    bundles.append(found)
                else:
                    absences.append(found)
                continue
            chosen, absent = _choose(code, situation, conditions.get(code))
            absences += absent
            for one in chosen:
                bundle = self.shelf.bundle(one)
                if bundle is not None:
                    bundles.append(bundle)
                elif one == code:
                    absences.append(_nothing_registered(code))
        return bundles, absences

    async def _packages(self, codes: Sequence[str]) -> Mapping[str, Bundle | Absence]:
        """What the codes of packages bring. One whose server is waited for delays no other."""
        if self.installed is None:
            return {}
        slugs = {code: slug for code in codes if (slug := slug_of(code)) is not None}
        found = await asyncio.gather(*map(self.installed.find, slugs.values()))
        return dict(zip(slugs, found, strict=True))


def _choose(
    code: str, situation: Situation, condition: Condition | None
) -> tuple[Sequence[str], Sequence[Absence]]:
    if condition is None:
        return (code,), ()
    try:
        choice = condition(situation)
        codes = tuple(choice.codes)
    except Exception as error:  # noqa: BLE001 - a plugin's predicate must not break the agent
        return (), (
            _absence(code, f"its condition failed: {type(error).__name__}", "Mend the plugin."),
        )
    if not codes:
        return (), (_absence(code, choice.reason or "dropped by its condition", choice.fix),)
    strangers = [one for one in codes if not belongs_under(code, one)]
    reasons = [
        _absence(one, f"the condition of {code!r} may not bring it", "Grant the code itself.")
        for one in strangers
    ]
    return [one for one in codes if one not in strangers], reasons


def _absence(code: str, reason: str, fix: str) -> Absence:
    return Absence(stage="condition", ref=f"native:{code}", reason=reason, fix=fix, code=code)


def _nothing_registered(code: str) -> Absence:
    return Absence(
        stage="code",
        ref=f"native:{code}",
        reason=f"no loaded plugin registers the code {code!r}",
        fix="Install the plugin, or look at `toolcrib plugins list` for one that failed.",
        code=code,
    )


Providers = Mapping[str, Provider]
Generation = Callable[[], tuple[int, ...]]
