"""This module adapts plain functions, async or not."""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable
from typing import Any, cast

from toolcrib.plugin.changes import tool_name
from toolcrib.plugin.registration import ANNOTATIONS
from toolcrib.sources.native.lazy import READY, waited_for
from toolcrib.sources.native.marks import annotations_of
from toolcrib.sources.native.outputs import output_of
from toolcrib.sources.native.parameters import Parameters, read_parameters
from toolcrib.sources.native.threads import Threads
from toolcrib.sources.native.tool import Body, NotATool
from toolcrib.tools.call import Call
from toolcrib.tools.result import Output
from toolcrib.tools.spec import ToolSpec


def adapt_function(obj: Any, threads: Threads) -> tuple[ToolSpec, Body] | None:
    """Functions, methods and partials of them; None for anything else. Raises NotATool."""
    target = cast("Any", obj).func if isinstance(obj, functools.partial) else obj
    if not inspect.isroutine(target):
        return None
    function = cast("Callable[..., Any]", obj)
    name = tool_name(function if hasattr(function, "__name__") else target)
    if name == "<lambda>":
        raise NotATool("a lambda has no name; use def")
    parameters = read_parameters(function)
    said = getattr(function, ANNOTATIONS, None) or getattr(target, ANNOTATIONS, None)
    spec = ToolSpec(
        name=name,
        description=inspect.getdoc(target) or "",
        input_schema=parameters.schema,
        annotations=annotations_of(said),
    )
    return spec, _Function(function, name, parameters, threads)


class _Function:
    """The call path of one function."""

    def __init__(
        self, function: Callable[..., Any], name: str, parameters: Parameters, threads: Threads
    ) -> None:
        self._function = function
        self._name = name
        self._parameters = parameters
        self._threads = threads
        self._asynchronous = inspect.iscoroutinefunction(function)

    async def __call__(self, call: Call) -> Output:
        places, names = self._parameters.bind(call)
        if self._asynchronous:
            result = await self._function(*places, **names)
        else:
            work = functools.partial(self._function, *places, **names)
            result = await self._threads.run(work)
        if not isinstance(result, READY):
            result = await waited_for(result, self._threads)
        return output_of(result, tool=self._name)
