"""This module lets an agent keep the chat's task list, in sections, in the database."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from toolcrib.builtin.tool import BuiltIn, answers
from toolcrib.errors import InvalidArguments, ToolcribError
from toolcrib.kit.metadata import method_metadata, tool_metadata
from toolcrib.kit.result import ToolResult
from toolcrib.kit.schema import openapi_schema, param
from toolcrib.plugin.lent import Row
from toolcrib.plugin.registration import annotations

STATES = ["pending", "completed", "cancelled"]
_IDS: dict[str, Any] = {"items": {"type": "integer"}, "minItems": 1, "maxItems": 500}
_TEXT: dict[str, Any] = {"type": "string", "minLength": 1, "maxLength": 4000}
_TITLE: dict[str, Any] = {"minLength": 1, "maxLength": 255}
_SECTION: dict[str, Any] = {
    "type": "object",
    "properties": {
        "title": {"type": "string", **_TITLE},
        "tasks": {"type": "array", "items": _TEXT, "minItems": 1},
    },
    "required": ["title", "tasks"],
    "additionalProperties": False,
}
GUIDE = """
Keep a list when a job has three steps or more. `view_tasks` shows it; its answer is what every
other call answers too.

1. `create_tasks` with all sections at once, in the order in which you will work.
2. Work on the first pending task only. When it is done, `update_tasks` to `completed` before you
   begin the next; several at once where one step finished them.
3. What turns out to be unnecessary is `cancelled`, with the reason in its content.
4. Look at the list before you say that you are done: nothing may be pending.

`delete_tasks` is for mistakes, `clear_all` for a new job. Both want `confirm: true`.
"""


@tool_metadata(
    "Task list",
    "Plan work as tasks in sections, and tick them off",
    icon="list-checks",
    color="amber",
    is_core=True,
    weight=20,
    visible=True,
    usage_guide=GUIDE,
    category="core",
)
class TaskListTool(BuiltIn):
    """One list for each chat; the same after a restart, and nobody else's."""

    @method_metadata("View tasks", "Shows the task list", is_core=True)
    @annotations(read_only=True)
    @openapi_schema(name="view_tasks", description="Show the task list of this chat.")
    @answers
    async def view_tasks(self) -> ToolResult:
        return await self._list()

    @method_metadata("Create tasks", "Adds tasks to the list", is_core=True)
    @openapi_schema(
        name="create_tasks",
        description="Add tasks: several sections at once, or some tasks to one section.",
    )
    @param("sections", "array", "Sections with their tasks, in order", items=_SECTION)
    @param("section_title", "string", "The section of `task_contents`", **_TITLE)
    @param("task_contents", "array", "Tasks for that section", items=_TEXT, minItems=1)
    @answers
    async def create_tasks(
        self,
        sections: Sequence[Mapping[str, Any]] = (),
        section_title: str = "Tasks",
        task_contents: Sequence[str] = (),
    ) -> ToolResult:
        wanted = [(str(one["title"]), list(one["tasks"])) for one in sections]
        if task_contents:
            wanted.append((section_title, list(task_contents)))
        if not wanted:
            raise InvalidArguments("Give `sections`, or `task_contents` for one section.")
        await self._add(wanted)
        return await self._list()

    @method_metadata("Update tasks", "Changes tasks of the list", is_core=True)
    @openapi_schema(name="update_tasks", description="Change the state, text or section of tasks.")
    @param("task_ids", "array", "Which tasks", required=True, **_IDS)
    @param("status", "string", "Their new state", enum=STATES)
    @param("content", "string", "Their new text", minLength=1, maxLength=4000)
    @param("section_title", "string", "The section to move them to", **_TITLE)
    @answers
    async def update_tasks(
        self,
        task_ids: Sequence[int],
        status: str | None = None,
        content: str | None = None,
        section_title: str | None = None,
    ) -> ToolResult:
        if status is None and content is None and section_title is None:
            raise InvalidArguments("Give `status`, `content` or `section_title`.")
        await self.lent.tasks.update(
            task_ids, status=status, content=content, section=section_title
        )
        return await self._list()

    @method_metadata("Delete tasks", "Removes tasks from the list", is_core=True)
    @openapi_schema(
        name="delete_tasks", description="Remove tasks, or whole sections, from the list."
    )
    @param("task_ids", "array", "Which tasks", **_IDS)
    @param("section_titles", "array", "Which sections", items={"type": "string"}, minItems=1)
    @param("confirm", "boolean", "Must be true", required=True, const=True)
    @answers
    async def delete_tasks(
        self, confirm: bool, task_ids: Sequence[int] = (), section_titles: Sequence[str] = ()
    ) -> ToolResult:
        known = await self.lent.tasks.list()
        titles = {row["section"] for row in known}
        for title in section_titles:
            if title not in titles:
                raise InvalidArguments(f"There is no section {title!r}.")
        ids = [*task_ids, *(row["id"] for row in known if row["section"] in section_titles)]
        if not ids:
            raise InvalidArguments("Give `task_ids` or `section_titles`.")
        await self.lent.tasks.delete(list(dict.fromkeys(ids)))
        return await self._list()

    @method_metadata("Clear all", "Empties the list", is_core=True)
    @openapi_schema(name="clear_all", description="Remove every task of this chat.")
    @param("confirm", "boolean", "Must be true", required=True, const=True)
    @answers
    async def clear_all(self, confirm: bool) -> ToolResult:
        await self.lent.tasks.clear()
        return await self._list()

    async def _add(self, sections: Sequence[tuple[str, Sequence[str]]]) -> None:
        """All or none: who is refused tries again, and would have the first ones twice."""
        made: list[int] = []
        try:
            for title, contents in sections:
                made += [row["id"] for row in await self.lent.tasks.add(title, contents)]
        except ToolcribError:
            if made:
                await self.lent.tasks.delete(made)
            raise

    async def _list(self) -> ToolResult:
        return self.success_response(listing(await self.lent.tasks.list()))


def listing(tasks: Sequence[Row]) -> dict[str, Any]:
    """`{sections: [{title, tasks: [{id, content, status}]}], total_tasks, total_sections}`."""
    sections: dict[str, list[dict[str, Any]]] = {}
    for task in tasks:
        shown = {name: task[name] for name in ("id", "content", "status")}
        sections.setdefault(task["section"], []).append(shown)
    return {
        "sections": [{"title": title, "tasks": rows} for title, rows in sections.items()],
        "total_tasks": len(tasks),
        "total_sections": len(sections),
    }
