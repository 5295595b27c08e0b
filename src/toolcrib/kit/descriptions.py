"""This module describes the installed tools for people: names, icons, methods, in their order."""

from __future__ import annotations

import inspect
import re
from typing import Any

from toolcrib.kit.catalogue import class_of, get_all_tools
from toolcrib.kit.tool import metadata_of, method_metadata_of, schemas_of


def get_tools_metadata() -> list[dict[str, Any]]:
    """Every installed tool, the lowest weight first."""
    found = [describe(name, kind) for name, kind in get_all_tools().items()]
    return sorted(found, key=lambda tool: tool["weight"])


def get_tool_metadata(tool_name: str) -> dict[str, Any] | None:
    kind = class_of(tool_name)
    return None if kind is None else describe(tool_name, kind)


def warm_up_tools_cache() -> int:
    """Import every installed tool now, so that nobody waits later; returns how many there are."""
    return len(get_all_tools())


def describe(tool_name: str, tool: type) -> dict[str, Any]:
    """`{name, tool_class, enabled, display_name, description, icon?, color?, is_core, weight,
    visible, methods}`."""
    said = metadata_of(tool)
    if said is None:
        shown: dict[str, Any] = {
            "display_name": spaced(re.sub(r"(?<=.)Tool$", "", tool.__name__)),
            "description": inspect.getdoc(tool) if tool.__doc__ else "",
            "is_core": False,
            "weight": 100,
            "visible": False,
        }
    else:
        optional = {"icon": said.icon, "color": said.color}
        shown = {
            "display_name": said.display_name,
            "description": said.description,
            **{name: value for name, value in optional.items() if value is not None},
            "is_core": said.is_core,
            "weight": said.weight,
            "visible": said.visible,
        }
    named = {"name": tool_name, "tool_class": tool.__name__, "enabled": True}
    return {**named, **shown, "methods": describe_methods(tool)}


def describe_methods(tool: type) -> list[dict[str, Any]]:
    """`[{name, enabled, display_name, description, is_core, visible}]`, as they are written."""
    known = method_metadata_of(tool)
    found: list[dict[str, Any]] = []
    for name, schemas in schemas_of(tool).items():
        said = known.get(name)
        found.append(
            {
                "name": name,
                "enabled": True,
                "display_name": said.display_name if said else name.replace("_", " ").title(),
                "description": said.description if said else _words(schemas[0].schema),
                "is_core": said.is_core if said else False,
                "visible": said.visible if said else True,
            }
        )
    return found


def spaced(name: str) -> str:
    """`SandboxWebSearch` → `Sandbox Web Search`; runs of capitals stay together."""
    return re.sub(r"(?<=[a-z0-9])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])", " ", name)


def _words(schema: dict[str, Any]) -> str:
    return str(schema["function"].get("description") or "")
