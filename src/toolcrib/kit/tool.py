"""This module holds Tool: a class whose decorated methods are tools of a model."""

from __future__ import annotations

import logging
from abc import ABC
from collections.abc import Callable, Iterator
from typing import Any, cast
from weakref import WeakKeyDictionary

from toolcrib.kit.metadata import MethodMetadata, ToolMetadata
from toolcrib.kit.result import ToolResult, failed, succeeded
from toolcrib.kit.schema import ToolSchema, undeclared

_log = logging.getLogger(__name__)
_schemas: WeakKeyDictionary[type, dict[str, list[ToolSchema]]] = WeakKeyDictionary()


class Tool(ABC):  # noqa: B024 - Kortix's base is an ABC too; nothing in it must be overridden
    """Derive from it and decorate methods with `openapi_schema`.

    Methods are async (a plain one runs in a thread) and return `success_response` or
    `fail_response`.
    """

    def __init_subclass__(cls, **given: Any) -> None:
        super().__init_subclass__(**given)
        for name, method in _methods(cls):
            for parameter in undeclared(method):
                _log.warning(
                    "%s.%s needs %r, which no @param declares: no model will give it",
                    cls.__name__,
                    name,
                    parameter,
                )

    def __init__(self) -> None:
        self._schemas: dict[str, list[ToolSchema]] = schemas_of(type(self))
        self._metadata: ToolMetadata | None = metadata_of(type(self))
        self._method_metadata: dict[str, MethodMetadata] = method_metadata_of(type(self))

    @classmethod
    def __toolcrib_names__(cls) -> list[str]:
        """What the tools of this class are called, wherever they are listed."""
        return names_of(cls)

    @classmethod
    def __toolcrib_shown__(cls) -> list[str]:
        """Those of them that people's lists show."""
        return shown_names_of(cls)

    def get_schemas(self) -> dict[str, list[ToolSchema]]:
        """By method name."""
        return schemas_of(type(self))

    def get_metadata(self) -> ToolMetadata | None:
        return metadata_of(type(self))

    def get_method_metadata(self) -> dict[str, MethodMetadata]:
        """By method name; methods without any are left out."""
        return method_metadata_of(type(self))

    def success_response(self, data: Any) -> ToolResult:
        """A dict or list becomes JSON text, anything else its `str`."""
        return succeeded(data)

    def fail_response(self, msg: str) -> ToolResult:
        return failed(msg)


def schemas_of(tool: type) -> dict[str, list[ToolSchema]]:
    """The schemas of a class by method name, base classes first; read once per class."""
    known = _schemas.get(tool)
    if known is None:
        known = {name: list(method.tool_schemas) for name, method in _methods(tool)}
        _schemas[tool] = known
    return known


def metadata_of(tool: type) -> ToolMetadata | None:
    found = getattr(tool, "__tool_metadata__", None)
    return found if isinstance(found, ToolMetadata) else None


def method_metadata_of(tool: type) -> dict[str, MethodMetadata]:
    found = {
        name: getattr(getattr(tool, name, None), "__method_metadata__", None)
        for name in _attributes(tool)
    }
    return {name: said for name, said in found.items() if isinstance(said, MethodMetadata)}


def names_of(tool: type) -> list[str]:
    """What a model calls the methods of a class, in order."""
    return [schema.name for schemas in schemas_of(tool).values() for schema in schemas]


def shown_names_of(tool: type) -> list[str]:
    """What people's lists show of a class: nothing of one that is not visible, else its visible
    methods."""
    said = metadata_of(tool)
    if said is None or not said.visible:
        return []
    methods = method_metadata_of(tool)
    return [
        schema.name
        for method, schemas in schemas_of(tool).items()
        if method not in methods or methods[method].visible
        for schema in schemas
    ]


def _methods(tool: type) -> Iterator[tuple[str, Any]]:
    for name in _attributes(tool):
        method = cast("Callable[..., Any] | None", getattr(tool, name, None))
        if callable(method) and isinstance(getattr(method, "tool_schemas", None), list):
            yield name, method


def _attributes(tool: type) -> dict[str, None]:
    """Names in the order in which they are written, base classes first."""
    return dict.fromkeys(name for kind in reversed(tool.__mro__) for name in vars(kind))
