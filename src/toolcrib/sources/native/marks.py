"""This module reads what an author said of a tool in MCP's words."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, cast

from toolcrib.tools.spec import Annotations


def annotations_of(said: object) -> Annotations:
    """Annotations from a mapping of MCP's names; only a real boolean or text counts."""
    if not isinstance(said, Mapping):
        return Annotations()
    words = cast("Mapping[str, Any]", said)

    def flag(name: str) -> bool | None:
        value = words.get(name)
        return value if isinstance(value, bool) else None

    title = words.get("title")
    return Annotations(
        title=title if isinstance(title, str) else None,
        read_only=flag("readOnlyHint"),
        destructive=flag("destructiveHint"),
        idempotent=flag("idempotentHint"),
        open_world=flag("openWorldHint"),
    )
