"""This module says what a tool is, for a model and for the code that calls it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

from toolcrib.tools.canonical import digest

_SHOWN = ("title", "icons", "execution", "_meta")
"""What of a spec's `meta` goes to clients; the rest is for people."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Annotations:
    """MCP's tool annotations: what the author says a call does. None means unsaid."""

    title: str | None = None
    read_only: bool | None = None
    destructive: bool | None = None
    idempotent: bool | None = None
    open_world: bool | None = None

    def as_json(self) -> dict[str, Any]:
        names = {
            "title": self.title,
            "readOnlyHint": self.read_only,
            "destructiveHint": self.destructive,
            "idempotentHint": self.idempotent,
            "openWorldHint": self.open_world,
        }
        return {name: value for name, value in names.items() if value is not None}


@dataclass(frozen=True, kw_only=True)
class ToolSpec:
    """One tool's definition. Immutable: a changed tool is another ToolSpec.

    `name` is the name its source calls it by; the name an agent sees may differ.
    """

    name: str
    description: str = ""
    input_schema: Mapping[str, Any] = field(
        default_factory=lambda: {"type": "object", "properties": {}}
    )
    output_schema: Mapping[str, Any] | None = None
    annotations: Annotations = field(default_factory=Annotations)
    meta: Mapping[str, Any] = field(default_factory=dict[str, Any])

    @property
    def read_only(self) -> bool:
        """Only its author's word makes a tool read-only; otherwise it may change something."""
        return self.annotations.read_only is True

    @cached_property
    def definition(self) -> Mapping[str, Any]:
        """All that a model or a client could notice, in MCP's words; what is unsaid is left out."""
        seen: dict[str, Any] = {
            "name": self.name,
            "description": self.description,
            "inputSchema": self.input_schema,
            "outputSchema": self.output_schema,
            "annotations": self.annotations.as_json() or None,
            **{key: self.meta[key] for key in _SHOWN if key in self.meta},
        }
        return {key: value for key, value in seen.items() if value is not None}

    @cached_property
    def fingerprint(self) -> str:
        """A hash of the definition: equal for equal JSON values, and for nothing else.

        Raises TypeError for a definition that is no JSON.
        """
        return digest(self.definition)
