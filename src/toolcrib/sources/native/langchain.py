"""This module adapts LangChain tools: called directly, or by their own way in if they have one."""

from __future__ import annotations

from functools import partial
from typing import Any, cast

from langchain_core.tools import BaseTool

from toolcrib.sources.native.direct import Direct
from toolcrib.sources.native.injecting import config_of, values_of
from toolcrib.sources.native.marks import annotations_of
from toolcrib.sources.native.outputs import output_of
from toolcrib.sources.native.reading import Reading, read_tool
from toolcrib.sources.native.threads import Threads
from toolcrib.sources.native.tool import Body, NotATool
from toolcrib.tools.call import Call
from toolcrib.tools.result import Output
from toolcrib.tools.spec import ToolSpec


def adapt_tool(tool: BaseTool, threads: Threads, *, traced: bool) -> tuple[ToolSpec, Body]:
    """Raises NotATool. `traced`: LangSmith may watch, so callbacks are always set up."""
    if not isinstance(cast("object", tool.name), str) or not tool.name:
        raise NotATool("it has no name")
    reading = read_tool(tool)
    spec = ToolSpec(
        name=tool.name,
        description=tool.description or "",
        input_schema=reading.schema,
        annotations=annotations_of(tool.metadata),
    )
    if reading.entrance is not None:
        return spec, _Entrance(reading, threads)
    return spec, Direct(reading, threads, traced=traced)


class _Entrance:
    """Calls a tool by its own `ainvoke`, or by `invoke` where it has no coroutine."""

    def __init__(self, reading: Reading, threads: Threads) -> None:
        self._reading = reading
        self._threads = threads

    async def __call__(self, call: Call) -> Output:
        tool = self._reading.tool
        config = config_of(call)
        values = values_of(self._reading, call, config)
        request: Any = {"name": tool.name, "args": values, "id": call.call_id, "type": "tool_call"}
        if self._reading.entrance == "ainvoke":
            answer = await tool.ainvoke(request, config)
        else:
            answer = await self._threads.run(partial(tool.invoke, request, config))
        return output_of(answer, tool=tool.name)
