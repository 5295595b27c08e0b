"""Tools of a Toolset as LangChain calls them: by name, by tool call, from threads, in graphs."""

from __future__ import annotations

import asyncio
import json
import os
import subprocess
import sys
from collections.abc import Mapping
from typing import Annotated, Any

import pytest
from langchain_core.callbacks import AsyncCallbackHandler
from langchain_core.messages import AIMessage, ToolMessage
from langchain_core.runnables import RunnableConfig, RunnableLambda
from langchain_core.tools import StructuredTool, tool
from langgraph.graph import START, MessagesState, StateGraph
from langgraph.prebuilt import InjectedState, ToolNode, ToolRuntime
from pydantic import BaseModel, Field

from toolcrib.dialects.langchain import CribTool, langchain_tools
from toolcrib.errors import GroupRequired, NotFound, NotGranted
from toolcrib.identity.caller import Caller
from toolcrib.invocation.flight import Outcome, Request
from toolcrib.platform import bare
from toolcrib.plugin.registration import Registry
from toolcrib.resolution.naming import Names
from toolcrib.resolution.toolset import ResolvedTool
from toolcrib.sources.native.shelf import NativeShelf
from toolcrib.testing.upstream import RecordingUpstream
from toolcrib.tools.call import Call
from toolcrib.tools.result import BlobPart, Output, TextPart
from toolcrib.tools.source import Bundle, Offer
from toolcrib.tools.spec import ToolSpec

CALLER = Caller(user_id=7, group_id=3)


class Search(BaseModel):
    query: str = Field(description="What to look for.")
    limit: int = 3


@tool("find", args_schema=Search)
async def find(query: str, limit: int, config: RunnableConfig) -> str:
    """Find things."""
    if query == "boom":
        raise ValueError("nothing there")
    return f"{query} x{limit} for {config['configurable']['logged_user_id']}"


def offered(*objects: Any) -> list[CribTool]:
    """LangChain tools of registered objects, called through the steps without a journal."""
    registry = Registry()
    registry.register_tools("code", list(objects))
    bundle = NativeShelf(registry).bundle("code")
    assert bundle is not None
    assert bundle.skipped == ()
    return made(bundle)


def made(bundle: Bundle) -> list[CribTool]:
    names = Names()
    names.add(bundle, capability_id=1)
    invoker = bare(Registry()).invoker

    async def invoke(
        tool: ResolvedTool, arguments: object, configurable: Mapping[str, Any]
    ) -> Outcome:
        return await invoker.invoke(
            Request(tool=tool, caller=CALLER, arguments=arguments, configurable=configurable)
        )

    return langchain_tools(names.tools.values(), invoke)


def described(schema: dict[str, Any], run: Any, *, prompt: bool = False) -> CribTool:
    """One tool that only a JSON Schema describes."""
    spec = ToolSpec(name="odd", description="Odd.", input_schema=schema)
    offer = Offer(spec=spec, run=run, prompt=prompt)
    return made(Bundle(code="code", kind="package", offers=(offer,)))[0]


def tool_call(name: str, /, **arguments: Any) -> dict[str, Any]:
    return {"type": "tool_call", "id": "call_1", "name": name, "args": arguments}


def test_looks_like_the_original():
    """Name, description and args_schema are the author's own, the class itself included."""
    (one,) = offered(find)
    assert (one.name, one.description, one.args_schema) == ("find", "Find things.", Search)


def test_keeps_what_the_author_set():
    """Extras for a vendor, tags and return_direct stay."""
    extras = {"cache_control": {"type": "ephemeral"}}
    shown = tool(extras=extras, return_direct=True)(sync_hello)
    shown.tags = ["polite"]
    (one,) = offered(shown)
    assert (one.extras, one.return_direct, one.tags) == (extras, True, ["polite"])


def sync_hello(name: str) -> str:
    """Say hello."""
    return f"hello {name}"


def test_plain_function_has_a_json_schema():
    """A tool that is no LangChain tool is described by JSON Schema, without injected names."""
    (one,) = offered(sync_hello)
    assert one.args_schema == {
        "type": "object",
        "properties": {"name": {"type": "string"}},
        "required": ["name"],
        "additionalProperties": False,
    }
    assert one.args == {"name": {"type": "string"}}


async def test_call_by_arguments():
    """With arguments alone the answer is the content, as of any LangChain tool."""
    (one,) = offered(find)
    assert await one.ainvoke({"query": "tea"}) == "tea x3 for 7"


async def test_call_by_tool_call():
    """With a tool call it is a message, whose artifact is the whole result."""
    (one,) = offered(find)
    message = await one.ainvoke(tool_call("find", query="tea", limit=1))
    assert isinstance(message, ToolMessage)
    assert (message.content, message.status, message.tool_call_id, message.name) == (
        "tea x1 for 7",
        "success",
        "call_1",
        "find",
    )
    assert message.artifact["success"] is True
    assert message.artifact["call_id"].startswith("call_")


@pytest.mark.parametrize(
    ("arguments", "text", "code"),
    [
        ({"query": "boom"}, "find failed: ValueError: nothing there", "tool_error"),
        ({}, '"query" is a required property', "invalid_arguments"),
        ({"query": "tea", "limit": "many"}, 'limit: *** is not of type "integer"', None),
    ],
)
async def test_failure_is_a_message(arguments: dict[str, Any], text: str, code: str | None):
    """What goes wrong is an error message that the model reads; nothing is raised."""
    (one,) = offered(find)
    message = await one.ainvoke(tool_call("find", **arguments))
    assert (message.content, message.status) == (text, "error")
    assert message.artifact["error"]["code"] == (code or "invalid_arguments")


async def test_failure_without_a_tool_call_is_text():
    """Called by arguments alone, the model-readable text comes back."""
    (one,) = offered(find)
    assert await one.ainvoke({"query": "boom"}) == "find failed: ValueError: nothing there"


@pytest.mark.parametrize(
    ("error", "text", "code"),
    [
        (NotFound("No such tool."), "No such tool.", "not_granted"),
        (NotGranted("Taken away."), "Taken away.", "not_granted"),
        (GroupRequired("Name a group."), "Name a group.", "internal"),
        (RuntimeError("disk /secret/path"), "find could not be called.", "internal"),
    ],
)
async def test_errors_of_invoking_are_messages(error: Exception, text: str, code: str):
    """Our own errors read like failures; a foreign one shows nothing of itself."""
    (source,) = offered(find)

    async def refuse(*_: Any) -> Outcome:
        raise error

    (one,) = langchain_tools([source._tool], refuse)
    message = await one.ainvoke(tool_call("find", query="tea"))
    assert (message.content, message.status) == (text, "error")
    assert message.artifact["error"]["code"] == code


async def test_cancelling_passes_through():
    """A cancelled run is cancelled, not answered."""
    began = asyncio.Event()

    @tool
    async def wait() -> str:
        """Wait."""
        began.set()
        await asyncio.sleep(60)
        return "late"

    (one,) = offered(wait)
    task = asyncio.create_task(one.ainvoke(tool_call("wait")))
    await began.wait()
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task


async def test_odd_argument_names_survive():
    """Arguments named like LangChain's own parameters reach the tool."""
    names = ["config", "run_manager", "self", "callbacks", "arguments", "tool_call_id"]
    schema = {"type": "object", "properties": {name: {"type": "string"} for name in names}}
    seen: list[Mapping[str, Any]] = []

    async def run(call: Call) -> Output:
        seen.append(call.arguments)
        return Output.of_text("ok")

    one = described(schema, run)
    wanted = {name: f"the {name}" for name in names}
    await one.ainvoke(tool_call("odd") | {"args": wanted})
    await one.ainvoke(wanted)
    assert seen == [wanted, wanted]


async def test_one_text_is_the_only_argument():
    """A single string means the only argument, as LangChain has it."""
    (one,) = offered(sync_hello)
    assert await one.ainvoke("Ada") == "hello Ada"


async def test_pictures_reach_the_message():
    """A picture is a content block, and exact in the artifact."""

    async def run(call: Call) -> Output:
        return Output(parts=(TextPart("look"), BlobPart("image", b"\x89PNG", "image/png")))

    message = await described({}, run).ainvoke(tool_call("odd"))
    assert message.content[1] == {"type": "image", "base64": "iVBORw==", "mime_type": "image/png"}
    assert message.artifact["content"][1]["data"] == "iVBORw=="


async def test_configurable_reaches_the_tool():
    """Who calls comes from the Caller; other keys pass along; LangGraph's own stay outside."""
    seen: dict[str, Any] = {}

    @tool
    async def look(config: RunnableConfig) -> str:
        """Look."""
        seen.update(config["configurable"])
        return "ok"

    (one,) = offered(look)
    await one.ainvoke({}, {"configurable": {"thread_id": "t1", "logged_user_id": 99}})
    assert seen == {
        "thread_id": "t1",
        "logged_user_id": 7,
        "group_id": 3,
        "chat_id": None,
        "chat_uuid": None,
    }


def test_sync_call_without_a_loop():
    """`invoke` works where no event loop runs, for sync and async tools alike."""
    one, two = offered(find, sync_hello)
    assert one.invoke({"query": "tea"}) == "tea x3 for 7"
    assert two.invoke(tool_call("sync_hello", name="Ada")).content == "hello Ada"


async def test_sync_call_inside_a_loop_says_what_to_do():
    """Blocking the loop would hang it, so the error names the way out."""
    (one,) = offered(find)
    with pytest.raises(RuntimeError, match=r"'find' is async.*ainvoke"):
        one.invoke({"query": "tea"})


async def test_graph_injects_into_native_tools():
    """State and runtime reach the tool in a LangGraph graph, and no model sees them."""
    seen: dict[str, Any] = {}

    @tool
    async def peek(word: str, state: Annotated[dict[str, Any], InjectedState]) -> str:
        """Peek."""
        seen["messages"] = len(state["messages"])
        return word

    @tool
    async def run_of(word: str, runtime: ToolRuntime) -> str:
        """Look at the run."""
        seen["tool_call_id"] = runtime.tool_call_id
        return word

    one, two = offered(peek, run_of)
    assert sorted(one.tool_call_schema.model_json_schema()["properties"]) == ["word"]
    graph = StateGraph(MessagesState)
    graph.add_node("tools", ToolNode([one, two]))
    graph.add_edge(START, "tools")
    calls = [tool_call("peek", word="a") | {"id": "1"}, tool_call("run_of", word="b") | {"id": "2"}]
    out = await graph.compile().ainvoke({"messages": [AIMessage("", tool_calls=calls)]})
    assert [message.content for message in out["messages"][1:]] == ["a", "b"]
    assert seen == {"messages": 1, "tool_call_id": "2"}


async def test_graph_takes_every_kind_of_tool():
    """JSON Schema alone, and annotations that nobody can resolve, are no trouble in a graph."""

    def local() -> Any:
        class Hidden:
            pass

        async def odd(word: str, config: RunnableConfig, more: Hidden | None = None) -> str:
            """Odd."""
            return word

        return StructuredTool(name="odd", description="Odd.", args_schema=Word, coroutine=odd)

    tools = offered(sync_hello, local())
    graph = StateGraph(MessagesState)
    graph.add_node("tools", ToolNode(tools))
    graph.add_edge(START, "tools")
    calls = [
        tool_call("sync_hello") | {"id": "1", "args": {"name": "Ada"}},
        tool_call("odd", word="b") | {"id": "2"},
    ]
    out = await graph.compile().ainvoke({"messages": [AIMessage("", tool_calls=calls)]})
    assert [message.content for message in out["messages"][1:]] == ["hello Ada", "b"]


class Word(BaseModel):
    word: str


class Watcher(AsyncCallbackHandler):
    """Writes down what LangChain tells it."""

    def __init__(self) -> None:
        self.seen: list[str] = []

    async def on_tool_start(self, serialized: Any, input_str: str, **_: Any) -> None:
        self.seen.append(f"tool {serialized['name']} {input_str}")

    async def on_chain_start(self, serialized: Any, inputs: Any, **given: Any) -> None:
        self.seen.append(f"chain {given.get('name')} {inputs}")

    async def on_tool_end(self, output: Any, **_: Any) -> None:
        self.seen.append(f"end {output}")


async def test_callbacks_hear_each_call_once():
    """The caller's handlers hear of the tool once, and of what runs inside it."""

    @tool
    async def think(topic: str, config: RunnableConfig) -> str:
        """Think."""
        return await RunnableLambda(lambda x: f"{x}!", name="inner").ainvoke(topic)

    watcher = Watcher()
    (one,) = offered(think)
    await one.ainvoke({"topic": "tea"}, {"callbacks": [watcher]})
    assert watcher.seen == ["tool think {'topic': 'tea'}", "chain inner tea", "end tea!"]


PLACE = {
    "type": "object",
    "properties": {"place": {"type": "string"}},
    "required": ["place"],
    "additionalProperties": False,
}


async def picture_of(call: Call) -> Output:
    if call.arguments["place"] == "nowhere":
        return Output.failed("upstream_error", "no such place")
    text = f"{call.arguments['place']} for {call.configurable['tenant']}"
    picture = BlobPart(kind="image", data=b"\x89PNG", mime_type="image/png")
    parts = (TextPart(text), picture) if call.arguments["place"] == "seen" else (TextPart(text),)
    return Output(parts=parts, structured={"text": text})


def shown(answer: object) -> object:
    """An answer without what no two calls share."""
    if not isinstance(answer, ToolMessage):
        return answer
    artifact = {**answer.artifact, "call_id": "", "duration_ms": 0}
    return answer.model_copy(update={"artifact": artifact})


@pytest.mark.parametrize(
    "given",
    [
        {"place": "Oslo"},
        {"place": "seen"},
        {"place": "nowhere"},
        {"place": 7, "more": True},
        "Oslo",
        tool_call("odd", place="Oslo"),
        tool_call("odd", place="seen"),
        tool_call("odd", place="nowhere"),
        tool_call("odd"),
        {**tool_call("odd", place="Oslo"), "id": None},
    ],
    ids=str,
)
async def test_answers_are_the_same_with_and_without_watchers(given: Any):
    """A prompt tool that nobody watches takes a shorter way to the very same answer."""
    one = described(PLACE, picture_of, prompt=True)
    watcher = Watcher()
    config: Any = {"configurable": {"tenant": "acme"}}
    plain = await one.ainvoke(given, config)
    watched = await one.ainvoke(given, {**config, "callbacks": [watcher]})
    assert shown(plain) == shown(watched)
    assert len(watcher.seen) == 2


@pytest.mark.parametrize("place", ["config", "tool", "around"])
async def test_whoever_watches_hears_of_prompt_tools(place: str):
    """Handlers of the config, of the tool, and of the run around the call."""
    one = described(PLACE, picture_of, prompt=True)
    watcher = Watcher()
    config: Any = {"configurable": {"tenant": "acme"}}
    if place == "config":
        await one.ainvoke({"place": "Oslo"}, {**config, "callbacks": [watcher]})
    elif place == "tool":
        one.callbacks = [watcher]
        await one.ainvoke({"place": "Oslo"}, config)
    else:
        outer = RunnableLambda(one.ainvoke)
        await outer.ainvoke({"place": "Oslo"}, {**config, "callbacks": [watcher]})
    heard = [line for line in watcher.seen if not line.startswith("chain")]
    assert heard == ["tool odd {'place': 'Oslo'}", "end Oslo for acme"]


async def test_the_run_around_a_prompt_tool_gives_it_its_config():
    """What LangChain carries from run to run reaches a call that nobody watches."""
    one = described(PLACE, picture_of, prompt=True)

    async def step(place: str) -> Any:
        return await one.ainvoke({"place": place})

    config: Any = {"configurable": {"tenant": "acme"}}
    assert await RunnableLambda(step).ainvoke("Oslo", config) == "Oslo for acme"


TRACING = """
import asyncio, sys
from langchain_core.runnables import RunnableLambda
from langchain_core.tools import StructuredTool, tool
from langchain_core.tracers.langchain import wait_for_all_tracers
from toolcrib import register_tools
from toolcrib.langchain import get_tools_from_capabilities

@tool
async def think(topic: str) -> str:
    "Think."
    return await RunnableLambda(lambda x: x, name="inner").ainvoke(topic)

register_tools("thinking", [think])

async def main():
    (one,), _ = await get_tools_from_capabilities(["thinking"], {})
    if sys.argv[1] == "alone":
        await one.ainvoke({"topic": "private"})
    else:
        async def step(x):
            return await one.ainvoke({"topic": x})
        await RunnableLambda(step, name="outer").ainvoke("seen")

asyncio.run(main())
wait_for_all_tracers()
"""


@pytest.mark.parametrize(
    ("how", "allowed", "names"),
    [
        ("alone", "", set()),
        ("alone", "1", {"think", "inner"}),
        ("within", "", {"outer"}),
        ("within", "1", {"outer", "think", "inner"}),
    ],
)
async def test_langsmith_sees_only_what_is_allowed(how: str, allowed: str, names: set[str]):
    """With tracing on in the process, nothing of a call is traced unless the operator allows it."""
    async with RecordingUpstream() as upstream:
        env = {
            **os.environ,
            "LANGSMITH_TRACING": "true",
            "LANGSMITH_ENDPOINT": upstream.url("").rstrip("/"),
            "LANGSMITH_API_KEY": "made-up",
            "TOOLCRIB_ALLOW_LANGSMITH": allowed or "0",
        }
        process = await asyncio.create_subprocess_exec(
            sys.executable, "-c", TRACING, how, env=env, stderr=subprocess.PIPE
        )
        _, errors = await process.communicate()
        assert process.returncode == 0, errors.decode()
        sent = b"".join(request.raw for request in upstream.requests)
    assert {name for name in ("outer", "think", "inner") if f'"{name}"'.encode() in sent} == names


def test_schema_is_json():
    """What is bound to a model can be sent."""
    (one,) = offered(sync_hello)
    assert json.loads(json.dumps(one.tool_call_schema))["description"] == "Say hello."
