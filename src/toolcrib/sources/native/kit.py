"""This module adapts kit classes and their instances: every method with a schema is a tool."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from dataclasses import replace
from functools import partial
from typing import Any, cast

import orjson

from toolcrib.kit.catalogue import groups_of
from toolcrib.kit.instances import instance_of
from toolcrib.kit.metadata import MethodMetadata, ToolMetadata
from toolcrib.kit.result import ToolResult
from toolcrib.kit.schema import ToolSchema
from toolcrib.kit.tool import Tool, metadata_of, method_metadata_of, schemas_of
from toolcrib.plugin.registration import ANNOTATIONS
from toolcrib.sources.native.failures import words_of
from toolcrib.sources.native.lazy import READY, waited_for
from toolcrib.sources.native.marks import annotations_of
from toolcrib.sources.native.outputs import output_of
from toolcrib.sources.native.threads import Threads
from toolcrib.sources.native.tool import Body, NotATool
from toolcrib.tools.call import Call
from toolcrib.tools.presentation import Presentation
from toolcrib.tools.result import Output, TextPart
from toolcrib.tools.spec import ToolSpec


def adapt_kit(obj: Any, threads: Threads) -> list[tuple[ToolSpec, Body]] | None:
    """One spec and body for each schema of each method; None for another kind. Raises NotATool.

    A class has one instance in this process, as it has in a ToolRegistry.
    """
    kind = cast("type[Any]", obj if isinstance(obj, type) else type(obj))
    if not issubclass(kind, Tool):
        return None
    schemas = schemas_of(kind)
    if not schemas:
        raise NotATool("none of its methods has a schema; decorate them with @openapi_schema")
    instance = _constructed(kind) if obj is kind else obj
    said = method_metadata_of(kind)
    return [
        _tool(kind, (name, getattr(instance, name)), schema, said.get(name), threads)
        for name, several in schemas.items()
        for schema in several
    ]


def _constructed(kind: type[Any]) -> Any:
    try:
        return instance_of(kind)
    except Exception as error:
        raise NotATool(
            f"its class cannot be constructed, so register an instance: {words_of(error)}"
        ) from error


def _tool(
    kind: type[Any],
    named: tuple[str, Callable[..., Any]],
    schema: ToolSchema,
    said: MethodMetadata | None,
    threads: Threads,
) -> tuple[ToolSpec, Body]:
    function = cast("dict[str, Any]", schema.schema["function"])
    shown = _presentation(kind, metadata_of(kind), said, schema.name)
    name, method = named
    spec = ToolSpec(
        name=schema.name,
        description=str(function.get("description") or ""),
        input_schema=function["parameters"],
        annotations=annotations_of(getattr(method, ANNOTATIONS, None)),
        meta=replace(shown, groups=groups_of(kind), method=name).as_meta(),
    )
    return spec, _Method(method, schema.name, threads)


def _presentation(
    kind: type[Any], tool: ToolMetadata | None, method: MethodMetadata | None, name: str
) -> Presentation:
    display_name = method.display_name if method else name.replace("_", " ").title()
    core = method is not None and method.is_core
    if tool is None:
        return Presentation(
            display_name=display_name, group=kind.__name__, visible=False, is_core=core
        )
    return Presentation(
        display_name=display_name,
        group=tool.display_name,
        icon=tool.icon,
        color=tool.color,
        weight=tool.weight,
        visible=tool.visible and (method is None or method.visible),
        is_core=tool.is_core or core,
    )


class _Method:
    """The call path of one method."""

    def __init__(self, method: Callable[..., Any], name: str, threads: Threads) -> None:
        self._method = method
        self._name = name
        self._threads = threads
        self._asynchronous = inspect.iscoroutinefunction(method)
        parameters = inspect.signature(method).parameters
        self._open = any(one.kind is one.VAR_KEYWORD for one in parameters.values())
        self._taken = frozenset(parameters)

    async def __call__(self, call: Call) -> Output:
        given = call.arguments
        if not self._open and not self._taken.issuperset(given):
            # As with a LangChain tool: what the schema leaves open and nobody takes is dropped.
            given = {name: value for name, value in given.items() if name in self._taken}
        if self._asynchronous:
            result = await self._method(**given)
        else:
            result = await self._threads.run(partial(self._method, **given))
        if not isinstance(result, READY):
            result = await self._there(result)
        return outcome_of(result, tool=self._name)

    async def _there(self, result: Any) -> Any:
        there = await waited_for(result, self._threads)
        if isinstance(there, ToolResult) and not isinstance(there.output, READY):
            return replace(there, output=await waited_for(there.output, self._threads))
        return there


def outcome_of(result: Any, *, tool: str) -> Output:
    """A ToolResult as an Output; whatever else a method returned is its result."""
    if not isinstance(result, ToolResult):
        return output_of(result, tool=tool)
    if not result.success:
        made = output_of(result.output, tool=tool)
        text = made.text or f"{tool} failed."
        return Output.failed("tool_error", text, structured=made.structured)
    if result.raw is not None and isinstance(result.output, str):
        # The value as the text shows it: what JSON cannot hold is text there too.
        return Output(parts=(TextPart(result.output),), structured=_read(result.output))
    return output_of(result.output, tool=tool)


def _read(text: str) -> Any:
    try:
        return orjson.loads(text)
    except orjson.JSONDecodeError:
        return None
