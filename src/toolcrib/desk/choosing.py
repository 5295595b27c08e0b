"""This module finds what an agent may hold: capabilities by id or code, and packages by code."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

from toolcrib.catalog.capabilities import Capability, CapabilityStore, Reach
from toolcrib.catalog.packages import PackageStore, slug_of
from toolcrib.errors import InvalidOptions
from toolcrib.grants.decide import INSTALLATION, decide, of_capability
from toolcrib.identity.caller import Caller

CapabilityRef = int | str
"""A number is a capability's id, a string a code."""
_PREFERENCE = ("group", "private", "user", "system")


class KnownCodes(Protocol):
    """Codes that loaded plugins register."""

    def codes(self) -> Sequence[str]: ...


class Choosing:
    """Raises InvalidOptions with the place of whatever the caller may not give to an agent."""

    def __init__(
        self, *, capabilities: CapabilityStore, packages: PackageStore, known: KnownCodes
    ) -> None:
        self._capabilities = capabilities
        self._packages = packages
        self._known = known

    async def codes(
        self, caller: Caller, capabilities: Sequence[CapabilityRef], held: Sequence[str] = ()
    ) -> tuple[str, ...]:
        """The `installed__<slug>` codes among them: admins give packages, nobody else sees them."""
        codes: list[str] = []
        for place, wanted in enumerate(capabilities):
            slug = slug_of(wanted) if isinstance(wanted, str) else None
            if slug is None:
                continue
            may = str(wanted) in held or decide(caller, "see", INSTALLATION)
            if not may or await self._packages.find(slug) is None:
                raise InvalidOptions(
                    f"There is no package {slug!r} that you could give to an agent.",
                    where=f"capabilities.{place}",
                    hint="Install it with POST /admin/tools/install.",
                )
            codes.append(str(wanted))
        return tuple(dict.fromkeys(codes))

    async def rows(
        self,
        caller: Caller,
        capabilities: Sequence[CapabilityRef],
        *,
        group_id: int | None,
        held: Sequence[int] = (),
    ) -> list[Capability]:
        """The rows among them that an agent of the group may hold; those in `held` may stay."""
        chosen: list[Capability] = []
        for place, wanted in _rows_of(capabilities):
            where = f"capabilities.{place}"
            if isinstance(wanted, int):
                chosen.append(await self._by_id(caller, wanted, where, group_id, held))
            else:
                chosen.append(await self._by_code(caller, wanted, where, group_id))
        return chosen

    async def _by_id(
        self,
        caller: Caller,
        wanted: int,
        where: str,
        group_id: int | None,
        held: Sequence[int],
    ) -> Capability:
        row = await self._capabilities.find(wanted)
        usable = row is not None and (
            wanted in held or (decide(caller, "use", of_capability(row)) and _fits(row, group_id))
        )
        if row is None or row.archived or not usable:
            raise InvalidOptions(
                f"There is no capability {wanted} that this agent could hold.",
                where=where,
                hint="It holds live capabilities of its own group, and yours for everybody; "
                "GET /api/super-admin/capabilities lists them.",
            )
        return row

    async def _by_code(
        self, caller: Caller, code: str, where: str, group_id: int | None
    ) -> Capability:
        row = await find_by_code(self._capabilities, caller, code, group_id=group_id)
        if row is not None:
            return row
        raise InvalidOptions(
            f"No capability that this agent could hold has the code {code!r}.",
            where=where,
            hint=self._hint(code, group_id),
        )

    def _hint(self, code: str, group_id: int | None) -> str:
        if code not in self._known.codes():
            return "No loaded plugin registers it either; look at GET /api/v1/plugins."
        group = f', "group_id": {group_id}' if group_id is not None else ""
        return (
            "It is registered: activate it with POST "
            f'/api/super-admin/capabilities/from-registered-tool {{"code": "{code}"{group}}}.'
        )


async def find_by_code(
    store: CapabilityStore, caller: Caller, code: str, *, group_id: int | None
) -> Capability | None:
    """The row that a code means to a caller acting for a group: group, private, user, system."""
    groups = frozenset({group_id}) if group_id is not None else caller.group_ids
    reach = Reach(group_ids=groups, owner_id=caller.user_id)
    rows = [r for r in await store.list(reach=reach, code=code) if _fits(r, group_id)]
    return min(rows, key=lambda r: (_PREFERENCE.index(r.access_type), r.id), default=None)


def _rows_of(capabilities: Sequence[CapabilityRef]) -> list[tuple[int, CapabilityRef]]:
    """What names capability rows, with its place; a package's code needs no row."""
    return [
        (place, wanted)
        for place, wanted in enumerate(capabilities)
        if not (isinstance(wanted, str) and slug_of(wanted))
    ]


def _fits(row: Capability, group_id: int | None) -> bool:
    """A group's capability serves its own group's agents only."""
    return row.access_type != "group" or group_id is None or row.group_id == group_id
