"""This module matches what plugins register with what a group has activated."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from toolcrib.catalog.capabilities import Capability, CapabilityDraft, CapabilityStore, Reach
from toolcrib.plugin.changes import Bundle
from toolcrib.plugin.registration import Registry

_PAGE = 200


@dataclass(frozen=True, kw_only=True, slots=True)
class RegisteredCode:
    """A code that a loaded plugin registers, and the group's own row that activates it."""

    code: str
    name: str
    description: str
    tools: Sequence[str]
    """The names of those that people's lists show."""
    capability_id: int | None = None

    @property
    def activated(self) -> bool:
        return self.capability_id is not None


def registered_codes(
    registry: Registry, held: Mapping[str, Capability]
) -> Sequence[RegisteredCode]:
    """Every registered code, in order of codes."""
    bundles = registry.snapshot().bundles
    return [
        RegisteredCode(
            code=code,
            name=bundles[code].name or code,
            description=bundles[code].description,
            tools=bundles[code].shown_names,
            capability_id=held[code].id if code in held else None,
        )
        for code in sorted(bundles)
    ]


def activation_of(
    bundle: Bundle, group_id: int, *, name: str | None, description: str | None
) -> CapabilityDraft:
    """A group's row of a registered code, in the plugin's words unless others are given."""
    return CapabilityDraft(
        name=bundle.name or bundle.code if name is None else name,
        code=bundle.code,
        description=bundle.description if description is None else description,
        access_type="group",
        group_id=group_id,
    )


async def held_by(capabilities: CapabilityStore, group_id: int) -> Mapping[str, Capability]:
    """The group's own live rows by code; of several the oldest."""
    reach = Reach(group_ids=frozenset({group_id}))
    held: dict[str, Capability] = {}
    after = 0
    while rows := await capabilities.list(reach=reach, after=after, limit=_PAGE):
        for row in rows:
            if row.access_type == "group":
                held = dict.fromkeys(row.codes, row) | held
        after = rows[-1].id
    return held
