"""This module looks at every tool of every source now, and takes the word of a lock on them."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass

from toolcrib.catalog.capabilities import Capability, CapabilityStore, Reach
from toolcrib.catalog.lock import Locked
from toolcrib.catalog.packages import PackageStore, slug_of
from toolcrib.catalog.pins import OF_CAPABILITIES, PinStore, Sighting
from toolcrib.coordination.signals import Signals
from toolcrib.desk.reach import require_installation
from toolcrib.errors import Conflict
from toolcrib.grants.decide import decide, of_capability
from toolcrib.identity.caller import Caller
from toolcrib.resolution.conditions import Situation
from toolcrib.resolution.holding import Brought, Holding, until_current
from toolcrib.resolution.installed import InstalledPackages
from toolcrib.resolution.offering import Providers, Shelf
from toolcrib.resolution.servers import ServerProvider
from toolcrib.resolution.toolset import Absence
from toolcrib.secrets.settings import SettingValues

_PAGE = 200
_WHAT = "every tool"


@dataclass(frozen=True, kw_only=True, slots=True)
class Looked:
    """How many tools were seen, how many of them are held, and what could not be looked at."""

    tools: int
    held: int
    absences: Sequence[Absence]


@dataclass(frozen=True, kw_only=True, slots=True)
class LockApplied:
    """The refs whose definitions are accepted now, and those that no source can have."""

    accepted: Sequence[str]
    unknown: Sequence[str]


class PinLooking:
    """For super-admins: it spans the installation. Servers are seen with the caller's settings."""

    def __init__(
        self,
        *,
        holding: Holding,
        pins: PinStore,
        capabilities: CapabilityStore,
        packages: PackageStore,
        values: SettingValues,
        providers: Providers,
        servers: ServerProvider,
        installed: InstalledPackages,
        shelf: Shelf,
        signals: Signals,
    ) -> None:
        self._holding = holding
        self._pins = pins
        self._capabilities = capabilities
        self._packages = packages
        self._values = values
        self._providers = providers
        self._servers = servers
        self._installed = installed
        self._shelf = shelf
        self._signals = signals

    async def look(self, caller: Caller) -> Looked:
        """See all of them, connecting where need be; what is new is pinned by the rules.

        Raises Conflict where nothing is pinned.
        """
        require_installation(caller, "change", what=_WHAT)
        if self._holding.rules.policy == "off":
            raise Conflict("TOOLCRIB_PINS is `off`: nothing is pinned.", hint="Set it to `hold`.")
        return await until_current(lambda: self._looked(caller))

    async def _looked(self, caller: Caller) -> Looked:
        bundles = [self._shelf.bundle(code) for code in self._shelf.codes()]
        brought: list[Brought] = [(bundle, None) for bundle in bundles if bundle]
        absences: list[Absence] = []
        for slug in await self._slugs():
            found = await self._installed.find(slug)
            if isinstance(found, Absence):
                absences.append(found)
            else:
                brought.append((found, None))
        rows = await self._rows(caller)
        for more, absent in await asyncio.gather(*(self._seen(caller, row) for row in rows)):
            brought += more
            absences += absent
        offers = [o for bundle, _ in await self._holding.sift(brought) for o in bundle.offers]
        held = sum(offer.hold is not None for offer in offers)
        return Looked(tools=len(offers), held=held, absences=absences)

    async def apply(self, caller: Caller, locked: Locked) -> LockApplied:
        """Accept what the lock names, seen already or not, in place of what it does not name."""
        require_installation(caller, "change", what=_WHAT)
        sightings: list[Sighting] = []
        unknown: list[str] = []
        for ref, tools in locked.items():
            places = await self._places(caller, ref)
            if not places:
                unknown.append(ref)
            sightings += [
                Sighting(
                    source=source,
                    name=name,
                    ref=ref,
                    fingerprint=tool.fingerprint,
                    definition=tool.definition,
                )
                for source, name in places
                for tool in tools
            ]
        if sightings:
            await self._pins.add_accepted(sightings, how="lock", user_id=caller.user_id)
            await self._signals.bump("pins")
        return LockApplied(accepted=sorted({one.ref for one in sightings}), unknown=sorted(unknown))

    async def _places(self, caller: Caller, ref: str) -> list[tuple[str, str]]:
        """`(source, name)` of every tool of the installation and its groups with this ref."""
        kind, _, rest = ref.partition(":")
        code, _, name = rest.partition("/")
        if not (code and name):
            return []
        if kind not in OF_CAPABILITIES:
            return [(f"{kind}:{slug_of(code) or code}", name)] if kind in _BY_CODE else []
        reach = Reach(group_ids=caller.group_ids, every_group=True)
        rows = await self._capabilities.list(reach=reach, code=code)
        return [
            (f"{kind}:{row.id}", name)
            for row in rows
            if row.type == kind and row.codes[0] == code and _is_theirs(caller, row)
        ]

    async def _seen(
        self, caller: Caller, row: Capability
    ) -> tuple[list[Brought], Sequence[Absence]]:
        group = row.group_id if row.access_type == "group" else caller.group_id
        if row.type == "mcp":
            await self._servers.state(row, user_id=caller.user_id, group_id=group, refresh=True)
        settings = await self._values.available(user_id=caller.user_id, group_id=group)
        situation = Situation(
            context=caller.context,
            in_chat=True,
            user_id=caller.user_id,
            group_id=group,
            settings=settings,
        )
        bundles, absences = await self._providers[row.type].find(row, situation)
        return [(bundle, row.id) for bundle in bundles], absences

    async def _rows(self, caller: Caller) -> list[Capability]:
        reach = Reach(group_ids=caller.group_ids, owner_id=caller.user_id, every_group=True)
        rows: list[Capability] = []
        after = 0
        while True:
            page = await self._capabilities.list(reach=reach, after=after, limit=_PAGE)
            rows += [r for r in page if r.type in self._providers and _is_theirs(caller, r)]
            if len(page) < _PAGE:
                return [row for row in rows if row.type in OF_CAPABILITIES]
            after = page[-1].id

    async def _slugs(self) -> list[str]:
        slugs: list[str] = []
        while page := await self._packages.list(after=slugs[-1] if slugs else ""):
            slugs += [package.slug for package in page]
        return slugs


_BY_CODE = frozenset({"native", "package"})


def _is_theirs(caller: Caller, row: Capability) -> bool:
    return bool(decide(caller, "use", of_capability(row)))
