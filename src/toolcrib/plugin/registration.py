"""This module holds the functions that authors call to register tools.

They act on the registry of the plugin that is being loaded, and otherwise on the process's
default one.
"""

import inspect
from collections.abc import Callable, Iterable
from typing import Any, TypeVar, cast

from toolcrib.errors import InvalidOptions
from toolcrib.plugin.changes import Predicate, tool_name
from toolcrib.plugin.recording import current_recording
from toolcrib.plugin.registry import Registry

__all__ = [
    "Registry",
    "annotations",
    "capability",
    "condition",
    "default_registry",
    "get_capability_meta",
    "register_condition",
    "register_tools",
    "resolve_tools",
]

T = TypeVar("T")
ANNOTATIONS = "__toolcrib_annotations__"
"""Where `annotations` leaves its word on a plain function: MCP's names to values."""

_default = Registry()


def default_registry() -> Registry:
    """The registry of this process."""
    return _default


def register_tools(code: str, tools: Any, *, name: str = "", description: str = "") -> None:
    """Register tools under a code. `name` and `description` are the code's, for people.

    Tools may be LangChain tools, plain or async functions, and classes or instances of the kit,
    which bring a tool for each method; any object is kept as it is. Raises InvalidOptions for a
    code that cannot be one.
    """
    _registry().register_tools(code, tools, name=name, description=description)


def capability(*codes: str) -> Callable[[T], T]:
    """Decorate a tool, or call with a list of tools: registered under each code, returned as is."""
    return _registry().capability(*codes)


def condition(code: str) -> Callable[[T], T]:
    """Decorate a predicate that decides at run time about a code that was granted."""
    return _registry().condition(code)


def register_condition(code: str, predicate: Predicate) -> None:
    """The same as a call."""
    _registry().register_condition(code, predicate)


def resolve_tools(active_codes: str | Iterable[str]) -> list[Any]:
    """The registered objects of these codes, deduplicated by tool name, the first one winning."""
    return _registry().resolve_tools(active_codes)


def get_capability_meta(code: str) -> dict[str, Any] | None:
    """`{code, name, description, tool_names}`, or None for a code nobody registered."""
    return _registry().get_capability_meta(code)


def annotations(
    *,
    read_only: bool | None = None,
    destructive: bool | None = None,
    idempotent: bool | None = None,
    open_world: bool | None = None,
    title: str | None = None,
) -> Callable[[T], T]:
    """Say what a call of the tool does, in MCP's words; a decorator that returns the same object.

    Works on functions (put it next to the function) and on LangChain tools (above `@tool`; the
    word goes into the tool's `metadata`). A tool that nobody calls read-only may change something.
    """
    said = {
        "readOnlyHint": read_only,
        "destructiveHint": destructive,
        "idempotentHint": idempotent,
        "openWorldHint": open_world,
        "title": title,
    }
    said = {key: value for key, value in said.items() if value is not None}

    def mark(tool: T) -> T:
        _mark(tool, said)
        return tool

    return mark


def _mark(tool: Any, said: dict[str, Any]) -> None:
    place = ANNOTATIONS if inspect.isroutine(tool) or not hasattr(tool, "metadata") else "metadata"
    known = cast("dict[str, Any]", getattr(tool, place, None) or {})
    try:
        setattr(tool, place, {**known, **said})
    except (AttributeError, TypeError, ValueError) as error:
        raise InvalidOptions(
            f"{tool_name(tool)!r} cannot carry annotations: {error}.",
            hint="Annotate the function or tool itself.",
        ) from error


def _registry() -> Registry:
    recording = current_recording.get()
    return recording.registry if recording is not None else _default
