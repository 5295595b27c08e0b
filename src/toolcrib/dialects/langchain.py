"""This module offers a Toolset as LangChain tools whose calls come back to Toolcrib.

A failed call is an error message that the model reads; it never ends an agent's run.
"""

from __future__ import annotations

import asyncio
import inspect
from collections.abc import Awaitable, Callable, Iterable, Mapping
from contextlib import AbstractContextManager, nullcontext
from typing import Annotated, Any, Literal, cast, get_type_hints

from langchain_core.messages import ToolCall, ToolMessage
from langchain_core.runnables import RunnableConfig, ensure_config
from langchain_core.tools import ArgsSchema, BaseTool
from langsmith.run_helpers import tracing_context  # pyright: ignore[reportUnknownVariableType]
from pydantic import PrivateAttr, SkipValidation

from toolcrib.dialects.answering import Invoke, answered
from toolcrib.dialects.blocks import Blocks, artifact, content
from toolcrib.dialects.watching import watched
from toolcrib.invocation.flight import Outcome
from toolcrib.resolution.toolset import ResolvedTool

_KEPT = ("return_direct", "extras", "tags", "metadata")
"""What a tool that was LangChain's before keeps besides its name, description and schema."""


async def always_ready() -> None:
    """Nothing has to run elsewhere for a synchronous call."""


class CribTool(BaseTool):
    """One tool of a Toolset. Make them with `langchain_tools`."""

    args_schema: Annotated[ArgsSchema | None, SkipValidation] = None
    response_format: Literal["content", "content_and_artifact"] = "content_and_artifact"
    allow_langsmith: bool = False
    """Whether LangSmith may trace calls."""

    _tool: ResolvedTool = PrivateAttr()
    _invoke: Invoke = PrivateAttr()
    _ready: Callable[[], Awaitable[None]] = PrivateAttr()
    _hidden: frozenset[str] = PrivateAttr(default=frozenset())
    """Arguments that LangGraph injects and no model may see: state, store, runtime."""

    @classmethod
    def of(
        cls,
        tool: ResolvedTool,
        invoke: Invoke,
        *,
        ready: Callable[[], Awaitable[None]],
        allow_langsmith: bool,
    ) -> CribTool:
        schema: Any = dict(tool.input_schema)
        kept: dict[str, Any] = {}
        if isinstance(tool.original, BaseTool):
            schema = tool.original.args_schema or schema
            kept = {name: getattr(tool.original, name) for name in _KEPT}
        made = cls(
            name=tool.name,
            description=tool.spec.description,
            args_schema=schema,
            allow_langsmith=allow_langsmith,
            **kept,
        )
        made._tool, made._invoke, made._ready = tool, invoke, ready
        made._hidden = _hidden(made, tool.input_schema)
        return made

    @property
    def func(self) -> Callable[..., Any] | None:
        """The function behind a native tool: LangGraph reads there what it has to inject.

        None too where its annotations cannot be resolved: LangGraph would fail on them.
        """
        original = self._tool.original
        function = getattr(original, "func", None) or getattr(original, "coroutine", None)
        try:
            get_type_hints(function)
        except Exception:  # noqa: BLE001 - a stranger's annotation may be anything
            return None
        return function

    async def ainvoke(
        self,
        input: str | dict[str, Any] | ToolCall,  # noqa: A002 - LangChain's name
        config: RunnableConfig | None = None,
        **kwargs: Any,
    ) -> Any:
        # A prompt tool is code of ours and looks at nothing that LangChain lays out for a call.
        if kwargs or not self._tool.prompt:
            return await super().ainvoke(input, config, **kwargs)
        whole = ensure_config(config)
        if watched(self, whole):
            return await super().ainvoke(input, config)
        return await self._unwatched(input, whole)

    async def _unwatched(
        self, given: str | dict[str, Any] | ToolCall, config: RunnableConfig
    ) -> Any:
        """What `ainvoke` answers, without what only watchers would see."""
        tool_call_id: str | None = None
        tool_input = cast("str | dict[str, Any]", given)
        if isinstance(given, dict) and given.get("type") == "tool_call":
            tool_call_id, tool_input = given["id"], given["args"]
        args, _ = self._to_args_and_kwargs(tool_input, tool_call_id)
        said, data = await self._arun(*args, config=config)
        if tool_call_id is None or isinstance(said, ToolMessage):
            return said
        return ToolMessage(said, artifact=data, tool_call_id=tool_call_id, name=self.name)

    async def arun(self, *args: Any, **given: Any) -> Any:
        with self._traced():
            return await super().arun(*args, **given)

    def run(self, *args: Any, **given: Any) -> Any:
        with self._traced():
            return super().run(*args, **given)

    def _traced(self) -> AbstractContextManager[None]:
        """LangSmith sees nothing of a call, even where it watches the agent that makes it."""
        return nullcontext() if self.allow_langsmith else tracing_context(enabled=False)

    def _to_args_and_kwargs(
        self, tool_input: str | dict[str, Any], tool_call_id: str | None
    ) -> tuple[tuple[Any, ...], dict[str, Any]]:
        # As one positional value: by keyword, arguments named `config`, `run_manager` or `self`
        # would be taken for LangChain's own. Toolcrib checks them itself.
        names = cast("Mapping[str, Any]", self._tool.input_schema["properties"])
        if isinstance(tool_input, str):
            arguments = {next(iter(names)): tool_input} if len(names) == 1 else tool_input
            return (arguments, {}, tool_call_id), {}
        injected = {key: tool_input[key] for key in self._hidden if key in tool_input}
        arguments = {key: value for key, value in tool_input.items() if key not in injected}
        return (arguments, injected, tool_call_id), {}

    def _filter_injected_args(self, tool_input: dict[str, Any]) -> dict[str, Any]:
        return {key: value for key, value in tool_input.items() if key not in self._hidden}

    async def _arun(
        self,
        arguments: object,
        injected: Mapping[str, Any],
        tool_call_id: str | None,
        *,
        config: RunnableConfig,
    ) -> tuple[Blocks | ToolMessage, dict[str, Any] | None]:
        configurable = {**(config.get("configurable") or {}), **injected}
        outcome = await answered(self._invoke, self._tool, arguments, configurable)
        output = outcome.output if isinstance(outcome, Outcome) else outcome
        data = artifact(outcome)
        if output.success or tool_call_id is None:
            return content(output), data
        message = ToolMessage(
            content(output),
            name=self.name,
            tool_call_id=tool_call_id,
            status="error",
            artifact=data,
        )
        return message, None

    # LangChain reads these types at every call; as text they would be compiled every time.
    _arun.__annotations__.update(get_type_hints(_arun))

    def _run(self, *given: Any, config: RunnableConfig) -> Any:
        try:
            asyncio.get_running_loop()
        except RuntimeError:
            pass
        else:
            raise RuntimeError(
                f"{self.name!r} is async and this thread runs an event loop: "
                "await ainvoke() instead of calling invoke()."
            )
        return asyncio.run(self._from_sync(*given, config=config))

    async def _from_sync(self, *given: Any, config: RunnableConfig) -> Any:
        await self._ready()
        return await self._arun(*given, config=config)


def langchain_tools(
    tools: Iterable[ResolvedTool],
    invoke: Invoke,
    *,
    ready: Callable[[], Awaitable[None]] = always_ready,
    allow_langsmith: bool = False,
) -> list[CribTool]:
    """The tools in their order, each with the name, description and schema that its author gave.

    `ready` is awaited before a synchronous call; it raises when the call would wait for ever.
    """
    return [
        CribTool.of(tool, invoke, ready=ready, allow_langsmith=allow_langsmith) for tool in tools
    ]


def _hidden(tool: CribTool, schema: Mapping[str, Any]) -> frozenset[str]:
    known: set[str] = set()
    fields = getattr(tool.args_schema, "model_fields", None)
    if isinstance(fields, Mapping):
        known |= set(cast("Mapping[str, Any]", fields))
    if tool.func is not None:
        known |= set(inspect.signature(tool.func).parameters)
    return frozenset(known - set(schema["properties"]))
