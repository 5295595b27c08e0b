"""This module orders tools so that each comes after those it depends on."""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field

_log = logging.getLogger(__name__)
DEPENDENCIES: Mapping[str, tuple[str, ...]] = {
    "sb_presentation_tool": ("sb_files_tool", "web_search_tool", "image_search_tool"),
    "browser_tool": ("sb_files_tool",),
    "sb_expose_tool": ("sb_shell_tool",),
    "trigger_tool": ("agent_config_tool",),
    "agent_creation_tool": ("sb_files_tool", "agent_config_tool"),
}


@dataclass(frozen=True, kw_only=True, slots=True)
class Order:
    """What to load, in this order; `skipped` are dependencies that may not be loaded."""

    tools: list[str]
    skipped: list[str] = field(default_factory=list[str])
    cycle: list[str] = field(default_factory=list[str])
    """Tools that wait for each other: they come last, as they were given."""


class DependencyResolver:
    """Reads a table of tool → tools that it depends on."""

    def __init__(self, table: Mapping[str, Sequence[str]] = DEPENDENCIES) -> None:
        self._table = table

    def of(self, tool_name: str) -> list[str]:
        """What a tool depends on directly."""
        return list(self._table.get(tool_name, ()))

    def resolve(
        self, tool_names: Iterable[str], *, allowed: Callable[[str], bool] = lambda _: True
    ) -> Order:
        """`allowed` judges dependencies; the tools that were asked for are taken as they are."""
        asked = list(dict.fromkeys(tool_names))
        wanted = dict.fromkeys(asked)
        skipped: dict[str, None] = {}
        todo = list(asked)
        while todo:
            for needed in self.of(todo.pop()):
                if needed in wanted or needed in skipped:
                    continue
                if not allowed(needed):
                    skipped[needed] = None
                    continue
                wanted[needed] = None
                todo.append(needed)
        ordered, cycle = self._sorted(list(wanted))
        return Order(tools=[*ordered, *cycle], skipped=list(skipped), cycle=cycle)

    def _sorted(self, names: list[str]) -> tuple[list[str], list[str]]:
        done: dict[str, None] = {}
        left = names
        while left:
            ready = [n for n in left if all(d in done or d not in names for d in self.of(n))]
            if not ready:
                _log.warning("these tools depend on each other: %s", ", ".join(left))
                break
            done |= dict.fromkeys(ready)
            left = [name for name in left if name not in done]
        return list(done), left
