"""This module makes a spec the key of a cache."""

from __future__ import annotations

from toolcrib.tools.spec import ToolSpec


class Keyed:
    """A spec by identity: specs are immutable, and hashing their schemas would cost more."""

    __slots__ = ("spec",)

    def __init__(self, spec: ToolSpec) -> None:
        self.spec = spec

    def __hash__(self) -> int:
        return id(self.spec)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Keyed) and other.spec is self.spec
