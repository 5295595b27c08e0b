"""This module says how a tool is shown to people; no model reads any of it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any, cast

from toolcrib.tools.spec import ToolSpec

META = "toolcrib/presentation"
"""Where a spec's `meta` has it."""
WEIGHT = 100
"""Of a tool that says nothing."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Presentation:
    """Of two tools of one code the one with the lower weight stands first."""

    display_name: str = ""
    group: str = ""
    """What the tool is one of several of: a class, to people."""
    icon: str | None = None
    color: str | None = None
    weight: int = WEIGHT
    visible: bool = True
    """Whether people's lists show it; a model sees it either way."""
    is_core: bool = False
    """Whether no agent's method selection can switch it off."""
    groups: Sequence[str] = ()
    """The names under which a catalogue lists what the tool is one of."""
    method: str = ""
    """What the tool is called there."""

    def as_meta(self) -> Mapping[str, Any]:
        return {META: {name: value for name, value in asdict(self).items() if value is not None}}


def presentation_of(spec: ToolSpec) -> Presentation:
    """What the spec says, or what holds for a tool that says nothing."""
    said = spec.meta.get(META)
    return (
        Presentation(**cast("dict[str, Any]", said)) if isinstance(said, dict) else Presentation()
    )
