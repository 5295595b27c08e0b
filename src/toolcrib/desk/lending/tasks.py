"""This module lends a call the task list of its chat, and the memories of its user."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict
from typing import cast, get_args

from toolcrib.agents.memories import MemoryStore
from toolcrib.agents.tasks import TaskStatus, TaskStore
from toolcrib.desk.lending.asking import chat_of, running
from toolcrib.desk.replying import storable
from toolcrib.errors import InvalidRequest
from toolcrib.plugin.lent import Row


class LentTasks:
    """The TaskList of `plugin.lent`."""

    def __init__(self, tasks: TaskStore) -> None:
        self._tasks = tasks

    async def list(self) -> Sequence[Row]:
        return [asdict(task) for task in await self._tasks.list(chat_of(running()).id)]

    async def add(self, section: str, contents: Sequence[str]) -> Sequence[Row]:
        chat = chat_of(running())
        made = await self._tasks.add(chat.id, storable(section), [storable(c) for c in contents])
        return [asdict(task) for task in made]

    async def update(
        self,
        ids: Sequence[int],
        *,
        content: str | None = None,
        status: str | None = None,
        section: str | None = None,
    ) -> Sequence[Row]:
        if status is not None and status not in get_args(TaskStatus):
            known = ", ".join(get_args(TaskStatus))
            raise InvalidRequest(f"A task cannot be {status!r}.", hint=f"Use one of {known}.")
        changed = await self._tasks.update(
            chat_of(running()).id,
            ids,
            content=None if content is None else storable(content),
            status=cast("TaskStatus | None", status),
            section=None if section is None else storable(section),
        )
        return [asdict(task) for task in changed]

    async def delete(self, ids: Sequence[int]) -> None:
        await self._tasks.delete(chat_of(running()).id, ids)

    async def clear(self) -> int:
        return await self._tasks.clear(chat_of(running()).id)


class LentMemories:
    """The Memories of `plugin.lent`."""

    def __init__(self, memories: MemoryStore) -> None:
        self._memories = memories

    async def list(self) -> Sequence[Row]:
        return [_shown(asdict(one)) for one in await self._memories.list(running().caller.user_id)]

    async def add(self, content: str) -> Row:
        made = await self._memories.add(running().caller.user_id, storable(content))
        return _shown(asdict(made))

    async def delete(self, memory_id: int) -> bool:
        return await self._memories.delete(running().caller.user_id, memory_id)


def _shown(row: Row) -> Row:
    return {name: value for name, value in row.items() if name != "user_id"}
