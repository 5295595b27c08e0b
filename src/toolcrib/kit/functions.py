"""This module looks functions up by name, and by the name of the group that they belong to."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

Function = Callable[..., Any]


class Functions(dict[str, Function]):
    """Function name to bound method.

    `functions["web_search_tool"]`, the name of a group in the catalogue, finds the one function
    that the group has, or the one named like it; so does `get`. Groups are never iterated over.
    """

    def __init__(
        self, functions: Mapping[str, Function], group: Callable[[str], Mapping[str, Function]]
    ) -> None:
        """`group` gives the functions of a group, registering it first where it has to."""
        super().__init__(functions)
        self._group = group

    def __missing__(self, name: str) -> Function:
        members = self._group(name)
        if not members:
            raise KeyError(name)
        own = name.removesuffix("_tool")
        if own in members:
            return members[own]
        if len(members) == 1:
            return next(iter(members.values()))
        raise KeyError(f"{name} has several functions, so name one: {', '.join(members)}")

    def get(self, key: str, default: Any = None, /) -> Any:
        try:
            return self[key]
        except KeyError:
            return default
