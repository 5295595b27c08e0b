"""This module holds what the demo is about, and what happened in it so far."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from toolcrib.cli.client import Client
    from toolcrib.settings import Settings

CODE = "hello"
MISSING_CODE = "hello_poems"
TOOL = "hello_greet"
ARGUMENTS = {"name": "Grace", "language": "fr"}
TEXT = {"text": "A tool crib is a room. Everything has its place!"}


@dataclass(kw_only=True, slots=True)
class Story:
    """What happened so far. `facts` is what `--json` prints."""

    client: Client
    settings: Settings
    facts: dict[str, Any] = field(default_factory=dict[str, Any])

    @property
    def as_user(self) -> Client:
        return self.client.acting(user=self.facts["user"]["id"])
