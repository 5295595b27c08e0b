"""This module makes pins for tests of what looks at many of them."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any

from toolcrib.catalog.pins import Pin, fingerprint_of_definition

NOW = datetime(2026, 11, 30, tzinfo=UTC)


def pin(number: int, source: str, name: str, description: str = "", **more: Any) -> Pin:
    """An accepted pin of `mcp:<source>`; `more` are further keys of the definition."""
    definition = {"name": name, "description": description, **more}
    return Pin(
        id=number,
        source=f"mcp:{source}",
        name=name,
        ref=f"mcp:{source}/{name}",
        fingerprint=fingerprint_of_definition(definition),
        definition=definition,
        state="accepted",
        how="first sight",
        seen_at=NOW,
        decided_at=NOW,
    )
