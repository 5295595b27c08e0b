"""This module holds all that differs between the two front doors of the engine, side by side."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final, Literal

from toolcrib.secrets.placeholders import SECRETS, SETTINGS, Language
from toolcrib.tools.source import KindName


@dataclass(frozen=True, kw_only=True, slots=True)
class Rules:
    """How one format reads its definitions and treats a call's arguments. Times in seconds."""

    kind: KindName
    language: Language
    """The placeholders that stored values fill."""
    resolved: Literal["open", "call"]
    """When they are filled: once for a user and group, or for every call."""
    methods: tuple[str, ...]
    timeout: float
    longest_timeout: float
    null_is_absent: bool
    """Whether null means that an argument is not given; otherwise JSON bodies carry the null."""
    drops_empty: bool
    """Whether an empty text is left out of the query and of body fields."""
    drops_partial: bool
    """Whether `?q=name:{x}` is left out with its argument; otherwise the slot is empty text."""
    raw_single: bool
    """Whether a body object of one text is sent as that text."""
    result: Literal["body", "status and body"]
    """What a good answer is to the model."""


API: Final = Rules(
    kind="api",
    language=SETTINGS,
    resolved="open",
    methods=("GET", "POST", "PUT", "PATCH"),
    timeout=30.0,
    longest_timeout=30.0,
    null_is_absent=True,
    drops_empty=True,
    drops_partial=False,
    raw_single=False,
    result="body",
)
"""API capabilities: a non-2xx answer is the text `API error: HTTP n`."""

PACKAGE: Final = Rules(
    kind="package",
    language=SECRETS,
    resolved="call",
    methods=("GET", "HEAD", "POST", "PUT", "PATCH", "DELETE"),
    timeout=30.0,
    longest_timeout=120.0,
    null_is_absent=False,
    drops_empty=False,
    drops_partial=True,
    raw_single=True,
    result="status and body",
)
"""http packages: a status of 300 or more is a failed result that shows status and body."""
