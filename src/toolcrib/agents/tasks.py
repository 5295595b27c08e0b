"""This module holds a chat's task list: its rows, and the port they are kept behind."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Literal, Protocol

TaskStatus = Literal["pending", "completed", "cancelled"]
MOST_TASKS = 500
"""How many tasks one chat may have."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Task:
    """One thing to do in a chat, under the title of its section."""

    id: int
    chat_id: int
    section: str
    content: str
    status: TaskStatus = "pending"
    created_at: datetime
    updated_at: datetime


class TaskStore(Protocol):
    """Task lists of chats, in the order in which tasks were made."""

    async def list(self, chat_id: int) -> Sequence[Task]: ...

    async def add(self, chat_id: int, section: str, contents: Sequence[str]) -> Sequence[Task]:
        """All or none. Raises NotFound for the chat, InvalidRequest over MOST_TASKS."""
        ...

    async def update(
        self,
        chat_id: int,
        ids: Sequence[int],
        *,
        content: str | None = None,
        status: TaskStatus | None = None,
        section: str | None = None,
    ) -> Sequence[Task]:
        """All or none. Raises NotFound that names an id which is not the chat's."""
        ...

    async def delete(self, chat_id: int, ids: Sequence[int]) -> None:
        """All or none. Raises NotFound that names an id which is not the chat's."""
        ...

    async def clear(self, chat_id: int) -> int:
        """Delete all of them; how many there were."""
        ...
