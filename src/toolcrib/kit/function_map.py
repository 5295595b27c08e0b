"""This module says which tool group a function belongs to."""

from __future__ import annotations

from toolcrib.kit.catalogue import get_all_tools
from toolcrib.kit.tool import names_of


def get_function_map() -> dict[str, str]:
    """Function name → group, of everything installed; the first group in the catalogue counts."""
    found: dict[str, str] = {}
    for group, kind in get_all_tools().items():
        for name in names_of(kind):
            found.setdefault(name, group)
    return found


def get_tool_for_function(function_name: str) -> str | None:
    return get_function_map().get(function_name)
