"""This module answers questions about the native tool groups that are installed here."""

from __future__ import annotations

import importlib
import logging
from collections.abc import Iterator
from typing import Any

from toolcrib.kit.announced import announced, forget_announced
from toolcrib.kit.groups import ALL_TOOLS, CATEGORIES, Group
from toolcrib.kit.metadata import ToolMetadata
from toolcrib.kit.tool import metadata_of

_log = logging.getLogger(__name__)
_classes: dict[str, type | None] = {}


def get_tool_class(module_path: str, class_name: str) -> type[Any]:
    """The class that an entry point announces for this group, else the module's own.

    Raises ImportError or AttributeError.
    """
    for name, module, kind in ALL_TOOLS:
        if (module, kind) == (module_path, class_name) and name in announced():
            return announced()[name].load()
    return getattr(importlib.import_module(module_path), class_name)


def get_all_tools() -> dict[str, type[Any]]:
    """Name to class, in the catalogue's order; what is not installed is left out."""
    found = {name: class_of(name) for name in (*(g[0] for g in ALL_TOOLS), *announced())}
    return {name: kind for name, kind in found.items() if kind is not None}


def get_tool_info(tool_name: str) -> Group | None:
    """`(name, module, class)`, installed or not."""
    for group in ALL_TOOLS:
        if group[0] == tool_name:
            return group
    point = announced().get(tool_name)
    return None if point is None else (tool_name, point.module, point.attr)


def get_tools_by_category() -> dict[str, list[Group]]:
    """Groups by `core`, `sandbox`, `search`, `utility`, `agent_builder`, installed or not."""
    found = {category: list(groups) for category, groups in CATEGORIES.items()}
    for name, point in _strangers():
        kind = class_of(name)
        said = None if kind is None else metadata_of(kind)
        category = said.category if said and said.category in CATEGORIES else "utility"
        found[category].append((name, point.module, point.attr))
    return found


def get_tool_metadata_summary(tool_name: str) -> dict[str, str] | None:
    """`{display_name, description}`; None for a tool that is not installed or says nothing."""
    said = metadata_of_tool(tool_name)
    if said is None:
        return None
    return {"display_name": said.display_name, "description": said.description}


def get_all_tool_summaries() -> dict[str, dict[str, str]]:
    """The summaries of all installed tools that have one, by name."""
    found = {name: get_tool_metadata_summary(name) for name in get_all_tools()}
    return {name: summary for name, summary in found.items() if summary is not None}


def get_tool_usage_guide(tool_name: str) -> str | None:
    """The author's long instructions, where there are any."""
    said = metadata_of_tool(tool_name)
    return (said.usage_guide or "").strip() or None if said else None


def metadata_of_tool(tool_name: str) -> ToolMetadata | None:
    kind = class_of(tool_name)
    return None if kind is None else metadata_of(kind)


def class_of(tool_name: str) -> type[Any] | None:
    """The class of an installed group, None otherwise; found once."""
    if tool_name not in _classes:
        _classes[tool_name] = _found(tool_name)
    return _classes[tool_name]


def groups_of(tool: type) -> list[str]:
    """The names that a class goes by in the catalogue."""
    listed = [name for name, _, kind in ALL_TOOLS if kind == tool.__name__]
    value = f"{tool.__module__}:{tool.__qualname__}"
    named = [name for name, point in announced().items() if point.value == value]
    return list(dict.fromkeys([*listed, *named]))


def forget_classes() -> None:
    """Look for entry points and classes again."""
    _classes.clear()
    forget_announced()


def _found(tool_name: str) -> type[Any] | None:
    info = get_tool_info(tool_name)
    if info is None:
        return None
    try:
        return get_tool_class(info[1], info[2])
    except (ImportError, AttributeError) as error:
        _log.debug("the tool %r is not installed: %s", tool_name, error)
    except Exception as error:  # noqa: BLE001 - a foreign module may raise anything
        _log.warning(
            "the tool %r cannot be imported: %s: %s", tool_name, type(error).__name__, error
        )
    return None


def _strangers() -> Iterator[tuple[str, Any]]:
    listed = {name for name, _, _ in ALL_TOOLS}
    return ((name, point) for name, point in announced().items() if name not in listed)
