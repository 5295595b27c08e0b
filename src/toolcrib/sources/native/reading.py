"""This module reads a LangChain tool once: what a model sees of it, and what is injected."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal, cast

from langchain_core.tools import BaseTool, StructuredTool, Tool
from pydantic import BaseModel, RootModel

from toolcrib.sources.native.hints import hints_of, is_call_id, is_config, is_injected
from toolcrib.sources.native.schemas import bare, schema_of, without
from toolcrib.sources.native.tool import NotATool

_BASES = (BaseTool, StructuredTool, Tool)
_ONE_TEXT = {
    "type": "object",
    "properties": {"tool_input": {"type": "string"}},
    "required": ["tool_input"],
}


@dataclass(frozen=True, kw_only=True, slots=True)
class Reading:
    """Everything about one tool that a call needs to know."""

    tool: BaseTool
    schema: Mapping[str, Any]
    target: Callable[..., Any]
    """The function behind the tool, or the tool's own `_arun` or `_run`."""
    asynchronous: bool
    own_methods: bool
    """The target is a method of the tool's class: it may take a run manager."""
    entrance: Literal["invoke", "ainvoke"] | None
    """Set when the class overrides this way in, or one below it: then it is called so."""
    configs: tuple[str, ...]
    needed_configs: tuple[str, ...]
    """Those that the args_schema would miss."""
    callbacks: bool
    run_manager: bool
    call_ids: tuple[str, ...]
    by_name: Mapping[str, bool]
    hidden: frozenset[str]
    """Names that a model must not fill in."""
    fields: tuple[str, ...] | None
    """The fields of a plain `args_schema`, which can be validated without LangChain's detours."""


def read_tool(tool: BaseTool) -> Reading:
    """Raises NotATool for a tool that no call could reach."""
    target, asynchronous, own_methods = _target(tool)
    parameters = inspect.signature(target).parameters
    hints = hints_of(target)
    fields = _marks_of_schema(tool.args_schema)
    marks: list[_Mark] = [
        *((n, hints.get(n, p.annotation), (), p.default is p.empty) for n, p in parameters.items()),
        *fields,
    ]
    configs = tuple(dict.fromkeys(n for n, hint, _, _ in marks if is_config(hint)))
    call_ids = tuple(dict.fromkeys(n for n, hint, more, _ in marks if is_call_id(hint, more)))
    by_name: dict[str, bool] = {}
    for name, hint, more, required in marks:
        if is_injected(hint, more) and name not in call_ids:
            by_name[name] = required or by_name.get(name, False)
    injected = {n for n in ("callbacks", "run_manager") if n in parameters}
    hidden = frozenset({*configs, *call_ids, *by_name, *injected})
    schema = _schema(tool, hidden)
    return Reading(
        tool=tool,
        schema=schema,
        target=target,
        asynchronous=asynchronous,
        own_methods=own_methods,
        entrance=_entrance(tool, asynchronous=asynchronous),
        configs=configs,
        needed_configs=tuple(n for n in configs if (n, True) in {(m[0], m[3]) for m in fields}),
        callbacks="callbacks" in parameters and not own_methods,
        run_manager="run_manager" in parameters and own_methods,
        call_ids=call_ids,
        by_name=by_name,
        hidden=hidden | _unseen(tool.args_schema, schema),
        fields=_plain_fields(tool) if not (call_ids or by_name) else None,
    )


def _target(tool: BaseTool) -> tuple[Callable[..., Any], bool, bool]:
    """What runs in the end, whether it is a coroutine function, whether it is a method."""
    if isinstance(tool, StructuredTool | Tool):
        asynchronous = tool.coroutine is not None
        if _inherited(tool, "_arun" if asynchronous else "_run"):
            function = tool.coroutine or tool.func
            if function is None:
                raise NotATool("it has neither a function nor a coroutine")
            return function, asynchronous, False
    else:
        asynchronous = not _inherited(tool, "_arun")
    return getattr(tool, "_arun" if asynchronous else "_run"), asynchronous, True


def _entrance(tool: BaseTool, *, asynchronous: bool) -> Literal["invoke", "ainvoke"] | None:
    if not (_inherited(tool, "ainvoke") and _inherited(tool, "arun")):
        return "ainvoke"
    if not (_inherited(tool, "invoke") and _inherited(tool, "run")):
        return "ainvoke" if asynchronous else "invoke"
    return None


def _inherited(tool: BaseTool, name: str) -> bool:
    """Whether a method is LangChain's own and not the class's."""
    return any(getattr(type(tool), name) is getattr(base, name) for base in _BASES)


_Mark = tuple[str, Any, Sequence[Any], bool]


def _marks_of_schema(given: Any) -> list[_Mark]:
    """Name, hint, further metadata and "must be there" of each field of a pydantic model."""
    if not (isinstance(given, type) and issubclass(given, BaseModel)):
        return []
    return [
        (name, info.annotation, info.metadata, info.is_required())
        for name, info in given.model_fields.items()
    ]


def _schema(tool: BaseTool, hidden: frozenset[str]) -> Mapping[str, Any]:
    given = tool.args_schema
    if isinstance(given, dict):
        schema: Mapping[str, Any] = bare(given)
    elif given is None and isinstance(tool, Tool):
        return _ONE_TEXT
    elif (
        isinstance(given, type)
        and issubclass(given, BaseModel)
        and not hidden & {*given.model_fields}
    ):
        return schema_of(given)
    else:
        shown = cast("Any", tool.tool_call_schema)
        schema = schema_of(shown) if issubclass(shown, BaseModel) else bare(shown.schema())
    return without(schema, hidden) if hidden else schema


def _unseen(given: Any, schema: Mapping[str, Any]) -> frozenset[str]:
    """Fields of an old-style model that LangChain keeps from the schema."""
    if not isinstance(given, type) or issubclass(given, BaseModel):
        return frozenset()
    fields = cast("Mapping[str, Any]", getattr(cast("Any", given), "__fields__", None) or {})
    return frozenset(fields) - frozenset(schema.get("properties") or {})


def _plain_fields(tool: BaseTool) -> tuple[str, ...] | None:
    """The fields to hand on, if validation is all that happens to them; None: LangChain decides."""
    model = tool.args_schema
    if not (isinstance(model, type) and issubclass(model, BaseModel)) or isinstance(tool, Tool):
        return None
    if not (_inherited(tool, "_to_args_and_kwargs") and _inherited(tool, "_parse_input")):
        return None
    decorators = model.__pydantic_decorators__
    odd = (
        issubclass(model, RootModel)
        or model.model_config.get("extra") == "allow"
        or decorators.computed_fields
        or decorators.field_serializers
        or decorators.model_serializers
        or model.model_dump is not BaseModel.model_dump
        or cast("Any", model.model_validate).__func__
        is not cast("Any", BaseModel.model_validate).__func__
    )
    if odd:
        return None
    return tuple(name for name, info in model.model_fields.items() if not info.exclude)
