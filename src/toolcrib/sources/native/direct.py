"""This module calls the function behind a LangChain tool as `ainvoke` would, without its detours.

`ainvoke` builds a callback manager, a task and two configs for each call. Where nobody listens,
the same arguments reach the same function at a tenth of the cost.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from functools import partial
from typing import Any, cast

from langchain_core.callbacks import (
    AsyncCallbackManager,
    AsyncCallbackManagerForToolRun,
    CallbackManagerForToolRun,
)
from langchain_core.runnables.config import (
    RunnableConfig,
    patch_config,
    var_child_runnable_config,
)
from langchain_core.tools import BaseTool, ToolException
from pydantic import BaseModel

from toolcrib.sources.native.failures import is_validation_error, problems_of, words_of
from toolcrib.sources.native.injecting import config_of, values_of
from toolcrib.sources.native.lazy import READY, waited_for
from toolcrib.sources.native.outputs import output_of
from toolcrib.sources.native.reading import Reading
from toolcrib.sources.native.threads import Threads
from toolcrib.sources.native.tool import CannotCall
from toolcrib.tools.call import Call
from toolcrib.tools.result import Output

_VARIADIC = frozenset({"args", "kwargs"})


class Direct:
    """Calls the function behind a tool."""

    def __init__(self, reading: Reading, threads: Threads, *, traced: bool) -> None:
        self._reading = reading
        self._threads = threads
        self._traced = traced

    async def __call__(self, call: Call) -> Output:
        tool = self._reading.tool
        config = config_of(call)
        values = values_of(self._reading, call, config)
        if self._traced or tool.callbacks is not None or tool.verbose:
            return await self._watched(values, call, config)
        return await self._plain(values, call, config, None)

    async def _watched(self, values: dict[str, Any], call: Call, config: RunnableConfig) -> Output:
        tool = self._reading.tool
        manager = AsyncCallbackManager.configure(
            config.get("callbacks"),
            tool.callbacks,
            tool.verbose,
            config.get("tags"),
            tool.tags,
            config.get("metadata"),
            tool.metadata,
        )
        inputs = {k: v for k, v in values.items() if k not in self._reading.hidden}
        run = await manager.on_tool_start(
            {"name": tool.name, "description": tool.description},
            str(inputs),
            inputs=inputs,
            tool_call_id=call.call_id,
        )
        try:
            output = await self._plain(values, call, config, run)
        except BaseException as error:
            await run.on_tool_error(error, tool_call_id=call.call_id)
            raise
        await run.on_tool_end(output.text, name=tool.name)
        return output

    async def _plain(
        self,
        values: dict[str, Any],
        call: Call,
        config: RunnableConfig,
        run: AsyncCallbackManagerForToolRun | None,
    ) -> Output:
        tool = self._reading.tool
        child = config if run is None else patch_config(config, callbacks=run.get_child())
        token = var_child_runnable_config.set(child)
        try:
            places, names = self._parsed(values, call)
            names |= self._injected(config, run)
            return self._answer(await self._called(places, names))
        except ToolException as error:
            if not tool.handle_tool_error:
                raise
            return _handled(tool, error)
        except Exception as error:
            if not (tool.handle_validation_error and is_validation_error(error)):
                raise
            return Output.failed("tool_error", _words_for(tool, error))
        finally:
            var_child_runnable_config.reset(token)

    def _parsed(self, values: dict[str, Any], call: Call) -> tuple[tuple[Any, ...], dict[str, Any]]:
        reading = self._reading
        try:
            if reading.fields is None:
                # The seam that LangChain gives to subclasses; `ainvoke` calls just this.
                return cast("Any", reading.tool)._to_args_and_kwargs(values, call.call_id)  # noqa: SLF001
            model = cast("type[BaseModel]", reading.tool.args_schema)
            if not model.model_fields:  # LangChain validates nothing then
                return (), {}
            made = model.__pydantic_validator__.validate_python(values)
        except Exception as error:
            if is_validation_error(error):
                raise CannotCall("invalid_arguments", _words_for(reading.tool, error)) from error
            raise
        given = made.model_fields_set
        return (), {
            name: getattr(made, name)
            for name in reading.fields
            if name not in _VARIADIC or name in given or name in values
        }

    def _injected(
        self, config: RunnableConfig, run: AsyncCallbackManagerForToolRun | None
    ) -> dict[str, Any]:
        reading = self._reading
        names: dict[str, Any] = dict.fromkeys(reading.configs, config)
        if reading.callbacks or reading.run_manager:
            manager = run or AsyncCallbackManagerForToolRun.get_noop_manager()
            if reading.callbacks:
                names["callbacks"] = manager.get_child()
            elif reading.asynchronous:
                names["run_manager"] = manager
            else:
                noop = CallbackManagerForToolRun.get_noop_manager
                names["run_manager"] = run.get_sync() if run is not None else noop()
        return names

    async def _called(self, places: tuple[Any, ...], names: dict[str, Any]) -> Any:
        target = self._reading.target
        if self._reading.asynchronous:
            answer = await target(*places, **names)
        else:
            answer = await self._threads.run(partial(target, *places, **names))
        if not isinstance(answer, READY):
            return await waited_for(answer, self._threads)
        if isinstance(answer, tuple) and self._reading.tool.response_format != "content":
            halves = cast("tuple[Any, ...]", answer)
            return tuple([await waited_for(half, self._threads) for half in halves])
        return cast("Any", answer)

    def _answer(self, answer: Any) -> Output:
        tool = self._reading.tool
        if tool.response_format != "content_and_artifact":
            return output_of(answer, tool=tool.name)
        if not isinstance(answer, tuple) or len(cast("tuple[Any, ...]", answer)) != 2:
            kind = type(cast("object", answer)).__name__
            raise ValueError(
                f"response_format is 'content_and_artifact', so two values are expected, not {kind}"
            )
        content, artifact = cast("tuple[Any, Any]", answer)
        return output_of(content, tool=tool.name, artifact=artifact)


def _words_for(tool: BaseTool, error: Exception) -> str:
    """What the author wants a model to read of invalid arguments, else what is wrong with them."""
    flag = tool.handle_validation_error
    if callable(flag):
        return str(cast("Callable[[Any], Any]", flag)(error))
    if isinstance(flag, str):
        return flag
    return "Tool input validation error" if flag else "; ".join(problems_of(error))


def _handled(tool: BaseTool, error: ToolException) -> Output:
    """What the author wants a model to read instead of the exception."""
    flag = tool.handle_tool_error
    content: Any = error.args[0] if error.args else "Tool execution error"
    if callable(flag):
        content = flag(error)
    elif isinstance(flag, str):
        content = flag
    made = output_of(content, tool=tool.name)
    text = made.text or words_of(error)
    return replace(Output.failed("tool_error", text), parts=made.parts)
