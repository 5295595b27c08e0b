"""The layout: names that say something, and background work in one place."""

from __future__ import annotations

import ast
import itertools
from collections.abc import Iterator
from pathlib import Path

import toolcrib

SRC = Path(__file__).parents[2] / "src" / "toolcrib"
EMPTY_WORDS = {
    "utils",
    "util",
    "helpers",
    "helper",
    "common",
    "misc",
    "manager",
    "service",
    "services",
}
OWNS_TASKS = {
    "cli/serving.py": "a server's start: awaited, or broken off when it is to end",
    "platform/tasks.py": "owns the one task group",
    "invocation/running.py": "a call's own task: awaited, or kept and cancelled at close",
    "sources/mcp/pacing.py": "tells a call's progress: awaited or cancelled with the call",
    "sources/mcp/process.py": "a start that is broken off: awaited on both ways out",
    "surfaces/mcp/held.py": "calls that wait for a person: awaited, or kept and cancelled at close",
    "surfaces/mcp/streaming.py": "looks after a call's client: cancelled and awaited with the call",
}
"""Modules that may start tasks, and how they end."""


def modules() -> Iterator[Path]:
    found = sorted(SRC.rglob("*.py"))
    assert len(found) > 30
    return iter(found)


def task_groups(tree: ast.AST) -> set[str]:
    """Names bound by `async with …TaskGroup() as name`: their tasks are awaited there."""
    items = itertools.chain.from_iterable(
        node.items for node in ast.walk(tree) if isinstance(node, ast.AsyncWith)
    )
    return {
        item.optional_vars.id
        for item in items
        if isinstance(item.optional_vars, ast.Name)
        and ast.unparse(item.context_expr).endswith("TaskGroup()")
    }


def loose_tasks(text: str) -> list[int]:
    """Lines that start a task which nothing awaits."""
    tree = ast.parse(text)
    groups = task_groups(tree)
    return [
        node.lineno
        for node in ast.walk(tree)
        if isinstance(node, ast.Attribute)
        and node.attr in {"create_task", "ensure_future"}
        and ast.unparse(node.value) not in groups
    ]


def test_no_module_has_an_empty_name():
    """Every module is named by what it holds."""
    assert [str(path) for path in modules() if EMPTY_WORDS & {*path.parts, path.stem}] == []


def test_background_work_has_an_owner():
    """Tasks start in the modules listed above, or inside a task group that waits for them."""
    found = {
        path.relative_to(SRC).as_posix(): lines
        for path in modules()
        if (lines := loose_tasks(path.read_text()))
    }
    assert {name: lines for name, lines in found.items() if name not in OWNS_TASKS} == {}


def test_loose_tasks_are_seen():
    """The check above finds what it looks for, and lets a task group be."""
    text = (
        "async def f(loop, work):\n"
        "    loop.create_task(work())\n"
        "    async with asyncio.TaskGroup() as group:\n"
        "        group.create_task(work())\n"
        "    asyncio.ensure_future(work())\n"
    )
    assert loose_tasks(text) == [2, 5]


def test_nothing_inside_uses_the_front_door():
    """Inside, a name is imported from where it lives; the front door is for others."""
    found = [
        f"{path.relative_to(SRC)}:{node.lineno}"
        for path in modules()
        for node in ast.walk(ast.parse(path.read_text()))
        if isinstance(node, ast.ImportFrom)
        and node.module == "toolcrib"
        and {alias.name for alias in node.names} & set(toolcrib.__all__)
    ]
    assert found == []
