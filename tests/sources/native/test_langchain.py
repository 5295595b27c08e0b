"""LangChain tools: what a model sees, what is injected, what comes back."""

from __future__ import annotations

import sys
import threading
from typing import Annotated, Any

import pytest
from langchain_core.callbacks import (
    AsyncCallbackHandler,
    AsyncCallbackManagerForToolRun,
    CallbackManagerForToolRun,
)
from langchain_core.messages import ToolMessage
from langchain_core.runnables import RunnableConfig, RunnableLambda
from langchain_core.tools import (
    BaseTool,
    InjectedToolArg,
    InjectedToolCallId,
    StructuredTool,
    Tool,
    ToolException,
    tool,
)
from langgraph.types import Command
from pydantic import BaseModel, ConfigDict, Field, field_validator, model_validator

from tests.sources.native.calls import OURS, a_call, adapted, refused, run
from toolcrib import annotations as say
from toolcrib.tools.spec import Annotations


class Search(BaseModel):
    """The docstring of the arguments, which is not the tool's."""

    query: str = Field(description="What to look for")
    limit: int = Field(default=10, description="How many")


async def test_a_tool_of_the_guide_becomes_a_spec_and_answers() -> None:
    """Name, docstring and schema are the author's; config carries user, group and chat."""

    @tool("crm_search", args_schema=Search)
    async def search(query: str, limit: int, config: RunnableConfig) -> str:
        """Search the CRM."""
        configurable = config["configurable"]
        return f"{query} {limit} {configurable['logged_user_id']} {configurable['chat_uuid']}"

    spec = adapted(search).spec
    assert (spec.name, spec.description) == ("crm_search", "Search the CRM.")
    assert spec.input_schema == {
        "properties": {
            "query": {"description": "What to look for", "type": "string"},
            "limit": {"default": 10, "description": "How many", "type": "integer"},
        },
        "required": ["query"],
        "type": "object",
    }
    output = await run(search, {"query": "ann"})
    assert (output.text, output.structured, output.error) == ("ann 10 7 chat-uuid", None, None)


async def test_ours_win_over_given_configurable_values() -> None:
    """A forged chat or user in configurable does not reach the tool; other values do."""

    @tool
    async def show(config: RunnableConfig) -> dict[str, Any]:
        """Show."""
        return dict(config["configurable"])

    output = await run(show, {}, chat_id=99, logged_user_id=1, thread_id="t")
    assert output.structured == {"thread_id": "t", **OURS}


async def test_config_reaches_what_the_tool_calls_inside() -> None:
    """A runnable invoked without config inherits it, as under ainvoke; outside nothing remains."""
    inner = RunnableLambda(lambda _, config: config["configurable"]["chat_id"])

    @tool
    async def nested() -> int:
        """Nested."""
        return await inner.ainvoke(None)

    @tool
    def nested_sync() -> int:
        """Nested."""
        return inner.invoke(None)

    assert (await run(nested)).text == "3"
    assert (await run(nested_sync)).text == "3"
    with pytest.raises(KeyError):
        await inner.ainvoke(None)


async def test_injected_arguments_are_hidden_filled_and_not_the_models() -> None:
    """Every kind LangChain knows; a model that sends one is overruled."""

    @tool
    async def injected(
        a: int,
        who: Annotated[str, InjectedToolArg],
        call: Annotated[str, InjectedToolCallId],
        config: RunnableConfig,
        callbacks: Any = None,
        maybe: Annotated[str, InjectedToolArg] = "default",
    ) -> list[Any]:
        """Injected."""
        return [a, who, call, config["configurable"]["chat_id"], callbacks is not None, maybe]

    assert adapted(injected).spec.input_schema == {
        "properties": {"a": {"type": "integer"}},
        "required": ["a"],
        "type": "object",
    }
    forged = {"a": 1, "who": "eve", "call": "x", "config": {}, "callbacks": 1, "maybe": "m"}
    output = await run(injected, forged, who="ann")
    assert output.structured == [1, "ann", "call-1", 3, True, "default"]
    missing = await run(injected, forged)
    assert missing.error is not None
    assert missing.error.code == "tool_error"
    assert "injected argument 'who'" in missing.text


async def test_marks_in_an_args_schema_count_too() -> None:
    """Hidden, pruned from the definitions, and filled before validation."""

    class State(BaseModel):
        inner: dict[str, int]

    class Arguments(BaseModel):
        n: int
        state: Annotated[State, InjectedToolArg]
        call: Annotated[str, InjectedToolCallId]

    @tool(args_schema=Arguments)
    async def stateful(n: int, state: State, call: str) -> list[Any]:
        """Stateful."""
        return [n, state.inner, call]

    schema = adapted(stateful).spec.input_schema
    assert schema == {
        "properties": {"n": {"type": "integer"}},
        "required": ["n"],
        "type": "object",
    }
    output = await run(stateful, {"n": 1, "state": {"inner": {"x": 9}}}, state={"inner": {"k": 2}})
    assert output.structured == [1, {"k": 2}, "call-1"]


async def test_a_mark_in_the_function_hides_a_field_of_the_args_schema() -> None:
    """Either place is enough, so that a model can never choose the value."""

    class Arguments(BaseModel):
        n: int
        who: str

    @tool(args_schema=Arguments)
    async def half(n: int, who: Annotated[str, InjectedToolArg]) -> list[Any]:
        """Half."""
        return [n, who]

    assert list(adapted(half).spec.input_schema["properties"]) == ["n"]
    assert (await run(half, {"n": 1, "who": "eve"}, who="ann")).structured == [1, "ann"]


async def test_an_optional_config_is_injected_as_well() -> None:
    """LangChain would show `RunnableConfig | None` to the model; it is ours to fill."""

    @tool
    async def optional(a: int, config: RunnableConfig | None = None) -> Any:
        """Optional."""
        return (config or {}).get("configurable")

    @tool
    async def needed(a: int, config: RunnableConfig | None) -> Any:
        """Needed."""
        return (config or {}).get("configurable")

    for each in (optional, needed):
        assert list(adapted(each).spec.input_schema["properties"]) == ["a"]
        assert (await run(each, {"a": 1, "config": None})).structured == OURS


class Counter(BaseTool):
    """A class of its own, with state, a run manager and config."""

    name: str = "counter"
    description: str = "Counts."
    count: int = 0

    def _run(self, step: int, run_manager: CallbackManagerForToolRun | None = None) -> str:
        assert run_manager is not None
        run_manager.get_child()
        self.count += step
        return f"sync {self.count}"


class AsyncCounter(Counter):
    async def _arun(
        self,
        step: int,
        config: RunnableConfig,
        run_manager: AsyncCallbackManagerForToolRun | None = None,
    ) -> str:
        assert run_manager is not None
        run_manager.get_child()
        self.count += step
        return f"async {self.count} {config['configurable']['chat_id']}"


async def test_tool_classes_keep_their_state_and_get_a_run_manager() -> None:
    """The registered object itself is called, sync or async."""
    sync, asynchronous = Counter(), AsyncCounter()
    assert list(adapted(sync).spec.input_schema["properties"]) == ["step"]
    assert (await run(sync, {"step": 2})).text == "sync 2"
    assert (await run(sync, {"step": 3})).text == "sync 5"
    assert sync.count == 5
    assert (await run(asynchronous, {"step": 4})).text == "async 4 3"
    assert asynchronous.count == 4


class OwnEntrance(BaseTool):
    name: str = "own"
    description: str = "Overrides ainvoke."

    def _run(self, a: int) -> int:
        return a

    async def ainvoke(self, input: Any, config: Any = None, **kwargs: Any) -> Any:  # noqa: A002
        return f"mine: {input['args']} {config['configurable']['chat_id']}"


class OwnRun(BaseTool):
    name: str = "own_run"
    description: str = "Overrides run."

    def _run(self, a: int) -> int:
        return a

    def run(self, tool_input: Any, *args: Any, **kwargs: Any) -> Any:
        found = super().run(tool_input, *args, **kwargs)
        found.content = f"ran: {found.content}"
        return found


async def test_a_class_that_overrides_a_way_in_is_called_through_it() -> None:
    """What its author does there still happens."""
    assert (await run(OwnEntrance(), {"a": 1})).text == "mine: {'a': 1} 3"
    assert (await run(OwnRun(), {"a": 1})).text == "ran: 1"


async def test_a_tool_of_one_text_takes_its_text() -> None:
    """The old Tool class has a single argument."""
    old = Tool(name="old", func=lambda text: text.upper(), description="Shouts.")
    assert adapted(old).spec.input_schema == {
        "type": "object",
        "properties": {"tool_input": {"type": "string"}},
        "required": ["tool_input"],
    }
    assert (await run(old, {"tool_input": "hey"})).text == "HEY"
    output = await run(old, {"tool_input": "a", "more": "b"})
    assert output.error is not None
    assert output.text.startswith("old failed: ToolException: Too many arguments")


async def test_a_json_schema_is_shown_as_it_is_and_its_arguments_are_handed_on() -> None:
    """A dict schema checks nothing itself; odd argument names come through."""
    schema = {
        "title": "T",
        "type": "object",
        "properties": {"a": {"type": "integer", "title": "Kept"}, "self": {"type": "string"}},
        "required": ["a"],
    }

    async def take(**given: Any) -> dict[str, Any]:
        return given

    made = StructuredTool(name="raw", description="d", args_schema=schema, coroutine=take)
    assert adapted(made).spec.input_schema == {k: v for k, v in schema.items() if k != "title"}
    assert (await run(made, {"a": 1, "self": "x"})).structured == {"a": 1, "self": "x"}


async def test_aliases_defaults_and_nested_models_arrive_as_under_langchain() -> None:
    """The schema shows the names that validation takes."""

    class Inner(BaseModel):
        n: int = 1

    class Arguments(BaseModel):
        query: str = Field(alias="q")
        inner: Inner = Inner()
        items: list[Inner] = Field(default_factory=list)

    @tool(args_schema=Arguments)
    async def take(query: str, inner: Inner, items: list[Inner]) -> list[Any]:
        """Take."""
        return [query, type(inner).__name__, [type(item).__name__ for item in items]]

    assert list(adapted(take).spec.input_schema["properties"]) == ["q", "inner", "items"]
    assert (await run(take, {"q": "x", "items": [{"n": 2}]})).structured == [
        "x",
        "Inner",
        ["Inner"],
    ]


async def test_invalid_arguments_name_the_place_and_not_the_value() -> None:
    """Of pydantic's rules and of the author's validators alike."""

    class Arguments(BaseModel):
        amount: int
        password: str = ""
        when: str = ""

        @field_validator("password")
        @classmethod
        def long(cls, value: str) -> str:
            if value and len(value) < 20:
                raise ValueError(f"{value!r} is too short")
            return value

        @model_validator(mode="after")
        def both(self) -> Arguments:
            if self.when == "never":
                raise ValueError("when must be a day")
            return self

    @tool(args_schema=Arguments)
    async def pay(amount: int, password: str, when: str) -> str:
        """Pay."""
        return "paid"

    output = await run(pay, {"amount": "hunter2-x", "password": "hunter2-secret"})
    assert output.error is not None
    assert output.error.code == "invalid_arguments"
    assert output.text == (
        "amount: Input should be a valid integer, unable to parse string as an integer; "
        "password: Value error, '***' is too short"
    )
    output = await run(pay, {"amount": 1, "when": "never"})
    assert output.text == "Value error, when must be a day"


async def test_the_authors_words_for_errors_are_used() -> None:
    """handle_validation_error and handle_tool_error in each of their forms."""

    async def fail(n: int) -> str:
        raise ToolException("sorry", n)

    def made(**options: Any) -> StructuredTool:
        return StructuredTool.from_function(coroutine=fail, name="f", description="d", **options)

    async def of(arguments: dict[str, Any], **options: Any) -> tuple[str, str]:
        output = await run(made(**options), arguments)
        assert output.error is not None
        return output.error.code, output.text

    good, bad = {"n": 1}, {"n": "x"}
    assert await of(good) == ("tool_error", "f failed: ToolException: ('sorry', 1)")
    assert await of(good, handle_tool_error=True) == ("tool_error", "sorry")
    assert await of(good, handle_tool_error="call us") == ("tool_error", "call us")
    assert await of(good, handle_tool_error=lambda e: f"n={e.args[1]}") == ("tool_error", "n=1")
    blocks = [{"type": "text", "text": "one"}, {"type": "text", "text": "two"}]
    assert await of(good, handle_tool_error=lambda e: blocks) == ("tool_error", "one\ntwo")
    assert await of(bad, handle_validation_error=True) == (
        "invalid_arguments",
        "Tool input validation error",
    )
    assert await of(bad, handle_validation_error="try n") == ("invalid_arguments", "try n")
    assert await of(bad, handle_validation_error=lambda e: str(e.error_count())) == (
        "invalid_arguments",
        "1",
    )


async def test_content_and_artifact_are_told_apart() -> None:
    """The artifact becomes the structured value if it is JSON; anything else is an error."""

    def made(answer: Any) -> StructuredTool:
        async def give() -> Any:
            return answer

        return StructuredTool.from_function(
            coroutine=give, name="g", description="d", response_format="content_and_artifact"
        )

    output = await run(made(("text", {"rows": [1]})))
    assert (output.text, output.structured) == ("text", {"rows": [1]})
    output = await run(made(("text", object())))
    assert (output.text, output.structured, output.error) == ("text", None, None)
    assert (await run(made(({"a": 1}, None)))).structured == {"a": 1}
    for wrong in ("text", ("one", "two", "three"), ["a", "b"]):
        output = await run(made(wrong))
        assert output.error is not None
        assert "two values are expected" in output.text


async def test_messages_and_commands_that_tools_return() -> None:
    """A ToolMessage is its content; a Command needs a graph, and says so."""

    @tool
    async def message(fails: bool) -> Any:
        """Message."""
        status = "error" if fails else "success"
        return ToolMessage("said", tool_call_id="x", artifact={"k": 1}, status=status)

    @tool
    async def command() -> Any:
        """Command."""
        return Command(update={"messages": []})

    output = await run(message, {"fails": False})
    assert (output.text, output.structured, output.error) == ("said", {"k": 1}, None)
    output = await run(message, {"fails": True})
    assert output.error is not None
    assert (output.error.code, output.text) == ("tool_error", "said")
    output = await run(command)
    assert output.error is not None
    assert "LangGraph Command" in output.text


class Watch(AsyncCallbackHandler):
    def __init__(self) -> None:
        self.seen: list[tuple[str, Any]] = []

    async def on_tool_start(self, serialized: Any, input_str: str, **kwargs: Any) -> None:
        self.seen.append(("start", kwargs["inputs"]))

    async def on_tool_end(self, output: Any, **kwargs: Any) -> None:
        self.seen.append(("end", output))

    async def on_tool_error(self, error: BaseException, **kwargs: Any) -> None:
        self.seen.append(("error", type(error)))


async def test_callbacks_of_a_tool_are_told() -> None:
    """Start, end and error, without injected arguments."""

    @tool
    async def watched(a: int, who: Annotated[str, InjectedToolArg]) -> str:
        """Watched."""
        if a < 0:
            raise RuntimeError("no")
        return who

    watch = Watch()
    watched.callbacks = [watch]
    assert (await run(watched, {"a": 1}, who="ann")).text == "ann"
    await run(watched, {"a": -1}, who="ann")
    assert watch.seen == [
        ("start", {"a": 1}),
        ("end", "ann"),
        ("start", {"a": -1}),
        ("error", RuntimeError),
    ]


async def test_sync_tools_run_beside_the_loop() -> None:
    """In a thread, with config."""

    @tool
    def where(config: RunnableConfig) -> list[Any]:
        """Where."""
        main = threading.current_thread() is threading.main_thread()
        return [main, config["configurable"]["chat_id"]]

    assert (await run(where)).structured == [False, 3]


def test_read_only_comes_from_metadata() -> None:
    """Set by the author or by our decorator; truthy is not true."""

    @tool
    async def look() -> str:
        """Look."""
        return ""

    assert not adapted(look).spec.read_only
    look.metadata = {"readOnlyHint": True, "destructiveHint": 0, "title": "T", "other": 1}
    assert adapted(look).spec.annotations == Annotations(read_only=True, title="T")
    marked = say(idempotent=True)(look.model_copy(update={"metadata": None}))
    assert adapted(marked).spec.annotations == Annotations(idempotent=True)


def test_a_tool_that_no_call_could_reach_is_a_skip() -> None:
    """Nothing behind it, no name, or a schema that cannot be made."""
    nothing = StructuredTool(name="n", description="d", args_schema=Search)
    assert "neither a function nor a coroutine" in refused(nothing).reason

    class Weird(BaseModel):
        model_config = ConfigDict(arbitrary_types_allowed=True)
        where: threading.Thread

    @tool(args_schema=Weird)
    def weird(where: Any) -> None:
        """Weird."""

    assert "have no JSON Schema" in refused(weird).reason
    nameless = weird.model_copy(update={"name": ""})
    assert "it has no name" in refused(nameless).reason


@pytest.mark.skipif(sys.version_info >= (3, 14), reason="pydantic.v1 ends with Python 3.13")
async def test_old_pydantic_models_work_too() -> None:
    """LangChain still takes them."""
    from pydantic import v1

    class Old(v1.BaseModel):
        n: int
        who: Annotated[str, InjectedToolArg] = "nobody"

    @tool(args_schema=Old)
    async def old(n: int, who: str) -> list[Any]:
        """Old."""
        return [n, who]

    assert adapted(old).spec.input_schema["required"] == ["n"]
    assert (await run(old, {"n": "4"})).structured == [4, "nobody"]
    output = await run(old, {"n": "hunter2"})
    assert output.error is not None
    assert (output.error.code, output.text) == (
        "invalid_arguments",
        "n: value is not a valid integer",
    )


async def test_a_call_does_not_touch_its_arguments() -> None:
    """The same Call may be recorded after the tool ran."""

    @tool
    async def change(items: list[int], call: Annotated[str, InjectedToolCallId]) -> str:
        """Change."""
        items.append(1)
        return call

    call = a_call({"items": [0], "call": "forged"})
    assert (await adapted(change).run(call)).text == "call-1"
    assert call.arguments == {"items": [0], "call": "forged"}
