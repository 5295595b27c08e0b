"""This module holds the times within which a server must do things, and how long it is kept."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, kw_only=True, slots=True)
class Limits:
    """All in seconds."""

    opening: float = 15.0
    """A connection, its process and its handshake."""
    listing: float = 15.0
    """The whole list of tools."""
    patience: float = 0.6
    """How long whoever asks for tools waits for a server that is not known yet."""
    calling: float = 300.0
    """The longest call; the caller's own deadline is usually shorter."""
    idle: float = 300.0
    """How long a connection that nobody uses is kept."""
    fresh: float = 60.0
    """How long a list is believed of a server that would not tell of changes."""
    retry: float = 1.0
    """How long a failed server rests at first; each failure in a row doubles it."""
    retry_most: float = 60.0
    forgotten: float = 3600.0
    """A server that nobody asked for so long is forgotten, and a failed one not tried again."""
    listen_again: float = 5.0
    closing: float = 6.0
    """How long connections have to close together before they are cut off."""
    listed_again: float = 1.0
    """The least time between two readings of a list that keeps changing."""


BODY_LIMIT = 16 * 1024 * 1024
"""How many bytes one message from a server may have."""
MOST_VALUES = 500_000
"""How many values one message from a server may hold: each costs far more than its bytes."""
MOST_IN_BATCH = 100
"""How many messages a batch may have."""
