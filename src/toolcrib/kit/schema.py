"""This module holds the decorators that give a method its schema.

    @openapi_schema(name="find_part", description="Find a part")
    @param("number", "string", "The part's number", required=True)
    async def find_part(self, number: str) -> ToolResult: ...

Decorators work from the bottom up; the properties stand as they are written, wherever
`openapi_schema` stands among them. `openapi_schema({...})` takes the whole schema as a dict.
"""

from __future__ import annotations

import copy
import inspect
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from enum import Enum
from typing import Any, TypeVar, cast

from toolcrib.errors import InvalidOptions
from toolcrib.kit.checking import checked
from toolcrib.kit.parameter import parameter

F = TypeVar("F", bound=Callable[..., Any])
_DRAFT = "__kit_draft__"


class SchemaType(Enum):
    OPENAPI = "openapi"


@dataclass
class ToolSchema:
    """One schema of a method: `{type: "function", function: {name, description, parameters}}`."""

    schema_type: SchemaType
    schema: dict[str, Any]

    @property
    def name(self) -> str:
        """The name that a model calls."""
        return str(self.schema["function"]["name"])


class Draft:
    """What the decorators of one method have said so far."""

    def __init__(self, schemas: list[ToolSchema]) -> None:
        self.schemas = schemas
        self.params: dict[str, dict[str, Any]] = {}
        self.required: list[str] = []
        self.own: ToolSchema | None = None
        """The schema of the keyword form; it grows with `params`."""

    @property
    def parameters(self) -> dict[str, Any]:
        return {"type": "object", "properties": self.params, "required": self.required}

    def add(self, name: str, rule: dict[str, Any], *, required: bool) -> None:
        """Put a property before those that stand below it."""
        self.params = {name: rule, **self.params}
        if required:
            self.required = [name, *self.required]
        if self.own is not None:
            self.own.schema["function"]["parameters"] = self.parameters


def openapi_schema(
    schema: Mapping[str, Any] | None = None, *, name: str | None = None, description: str = ""
) -> Callable[[F], F]:
    """Give a method a schema: a dict, or a name and description over `@param` decorators.

    `name` is otherwise the method's own, `description` its docstring. Several dicts may be
    stacked. Raises InvalidOptions for a dict that is no function schema.
    """

    def mark(function: F) -> F:
        method, draft = _drafted(function)
        if schema is not None:
            draft.schemas.append(ToolSchema(SchemaType.OPENAPI, _function_schema(schema, method)))
            return method
        if draft.own is not None:
            raise InvalidOptions(f"{method.__qualname__} has two schemas of the keyword form.")
        said = {
            "name": name or method.__name__,
            "description": description or inspect.getdoc(method) or "",
            "parameters": draft.parameters,
        }
        draft.own = ToolSchema(SchemaType.OPENAPI, {"type": "function", "function": said})
        draft.schemas.append(draft.own)
        return method

    return mark


def param(
    name: str,
    type: str,  # noqa: A002 - the signature is Kortix's
    description: str = "",
    required: bool = False,
    enum: Sequence[Any] | None = None,
    default: Any = None,
    **keywords: Any,
) -> Callable[[F], F]:
    """Describe one argument. `type` is JSON Schema's; a `default` of None means that there is none.

    `keywords` are further ones of JSON Schema, such as `items` or `minimum`. Raises InvalidOptions
    for what contradicts itself or the method's signature.
    """
    rule = parameter(
        name, type, description, required=required, enum=enum, default=default, more=keywords
    )

    def mark(function: F) -> F:
        method, draft = _drafted(function)
        if name in draft.params:
            raise InvalidOptions(f"{method.__qualname__} declares the parameter {name!r} twice.")
        taken = inspect.signature(method).parameters.values()
        open_ended = any(one.kind is one.VAR_KEYWORD for one in taken)
        if not open_ended and name not in {one.name for one in taken}:
            raise InvalidOptions(
                f"{method.__qualname__} takes no parameter {name!r}.",
                hint=f"It takes {', '.join(one.name for one in taken)}.",
            )
        draft.add(name, rule, required=required)
        return method

    return mark


def undeclared(method: Callable[..., Any]) -> list[str]:
    """Parameters that a call must give and that no `@param` of the method declares."""
    draft = cast("Draft | None", getattr(method, _DRAFT, None))
    if draft is None or draft.own is None:
        return []
    taken = list(inspect.signature(method).parameters.values())[1:]
    variable = {inspect.Parameter.VAR_POSITIONAL, inspect.Parameter.VAR_KEYWORD}
    needed = [p.name for p in taken if p.default is p.empty and p.kind not in variable]
    return [name for name in needed if name not in draft.params]


def _drafted(function: F) -> tuple[F, Draft]:
    """The method whose arguments are checked, and what was said of it: made by the first one."""
    known = cast("Draft | None", getattr(function, _DRAFT, None))
    if known is not None:
        return function, known
    draft = Draft([])
    method: Any = checked(function, draft.schemas)
    setattr(method, _DRAFT, draft)
    method.tool_schemas = draft.schemas
    return method, draft


def _function_schema(schema: Mapping[str, Any], method: Callable[..., Any]) -> dict[str, Any]:
    given = cast("object", schema)
    whole = copy.deepcopy(dict(schema)) if isinstance(given, Mapping) else {}
    said = whole.get("function")
    if not isinstance(said, dict):
        raise InvalidOptions(
            f"The schema of {method.__qualname__} is no function schema.",
            where="function",
            hint='Write {"type": "function", "function": {"name": …, "parameters": {…}}}.',
        )
    function = cast("dict[str, Any]", said)
    function.setdefault("name", method.__name__)
    function.setdefault("description", inspect.getdoc(method) or "")
    function.setdefault("parameters", {"type": "object", "properties": {}, "required": []})
    if not isinstance(function["name"], str) or not isinstance(function["parameters"], dict):
        raise InvalidOptions(
            f"The schema of {method.__qualname__} needs a name and an object of parameters.",
            where="function",
        )
    return {"type": "function", **whole}
