"""This module holds what agents remember of a user between chats, and the port to it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Protocol

MOST_MEMORIES = 500
"""How many memories one user may have."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Memory:
    """One thing to remember of a user."""

    id: int
    user_id: int
    content: str
    created_at: datetime


class MemoryStore(Protocol):
    """Memories of users, oldest first."""

    async def list(self, user_id: int) -> Sequence[Memory]: ...

    async def add(self, user_id: int, content: str) -> Memory:
        """Raises NotFound for the user, InvalidRequest over MOST_MEMORIES."""
        ...

    async def delete(self, user_id: int, memory_id: int) -> bool: ...
