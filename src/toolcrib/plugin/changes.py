"""This module holds what a registration leaves behind: plain records, nothing that acts."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import Any

Predicate = Callable[[Any], Any]
"""A runtime condition. Resolution knows what goes in and out; here it is opaque."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Origin:
    """Who registered something: an entry point of an installed distribution."""

    distribution: str
    version: str
    entry_point: str
    value: str
    """`module:attribute`, as the distribution declares it."""

    def __str__(self) -> str:
        return f"{self.distribution} {self.version}".strip()


@dataclass(frozen=True, kw_only=True, slots=True)
class Entry:
    """One registered object, as it is. `origin` is None for code of this process."""

    obj: Any
    origin: Origin | None = None


@dataclass(frozen=True, kw_only=True, slots=True)
class Bundle:
    """The objects registered under one code, in order, with what people should read about it."""

    code: str
    name: str = ""
    description: str = ""
    entries: tuple[Entry, ...] = ()

    @property
    def tool_names(self) -> list[str]:
        """Each name once, in order."""
        return list(dict.fromkeys(name for e in self.entries for name in tool_names(e.obj)))

    @property
    def shown_names(self) -> list[str]:
        """Those of them that people's lists show."""
        return list(dict.fromkeys(name for e in self.entries for name in shown_names(e.obj)))


@dataclass(frozen=True, kw_only=True, slots=True)
class Condition:
    """A predicate that decides about one code at run time."""

    code: str
    predicate: Predicate
    origin: Origin | None = None


@dataclass(frozen=True, kw_only=True, slots=True)
class Snapshot:
    """A registry at one moment; it never changes. `version` rises with every registration."""

    version: int
    bundles: Mapping[str, Bundle]
    conditions: Mapping[str, Condition]


@dataclass(frozen=True, kw_only=True, slots=True)
class Change:
    """One call of `register_tools` (tools) or `condition` (a predicate) for one code."""

    code: str
    tools: tuple[Any, ...] = ()
    name: str = ""
    description: str = ""
    predicate: Predicate | None = None
    origin: Origin | None = None


def tool_names(obj: Any) -> tuple[str, ...]:
    """The names of the tools that an object brings: its own, or those that it says it has.

    An object of several tools has `__toolcrib_names__`, a function that lists them.
    """
    try:
        say: Callable[[], Iterable[object]] | None = getattr(obj, "__toolcrib_names__", None)
        names = tuple(map(str, say())) if callable(say) else ()
    except Exception:  # noqa: BLE001 - a foreign object may raise anything
        names = ()
    return names or (tool_name(obj),)


def shown_names(obj: Any) -> tuple[str, ...]:
    """The names that people's lists show: all, unless the object says which.

    An object that hides some has `__toolcrib_shown__`, a function that lists the others.
    """
    try:
        say: Callable[[], Iterable[object]] | None = getattr(obj, "__toolcrib_shown__", None)
        if callable(say):
            return tuple(map(str, say()))
    except Exception:  # noqa: BLE001 - a foreign object may raise anything
        return ()
    return tool_names(obj)


def tool_name(obj: Any) -> str:
    """The name a tool goes by, whatever it is: `.name`, else `__name__`, else what it is."""
    for attribute in ("name", "__name__"):
        try:
            name = getattr(obj, attribute, None)
        except Exception:  # noqa: BLE001, S112 - a foreign property may raise anything
            continue
        if isinstance(name, str) and name:
            return name
    if isinstance(obj, str):
        return obj
    return f"<{type(obj).__name__}>"


def is_named(name: str) -> bool:
    """Whether an object says its name itself; Python calls a lambda `<lambda>`."""
    return not name.startswith("<")
