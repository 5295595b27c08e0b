"""Calls whose arguments are not JSON: the model is told, and may try again."""

from __future__ import annotations

from typing import Any

import pytest
from langchain.agents import create_agent
from langchain_core.messages import AIMessage
from langchain_core.tools import tool
from langchain_openai import ChatOpenAI

from toolcrib.langchain import repair_invalid_tool_calls
from toolcrib.testing import ScriptedModel, ToolCall

ASK = {"messages": [("user", "Please.")]}


@tool
async def shout(word: str) -> str:
    """Shout a word."""
    return word.upper()


def agent(scripted: ScriptedModel, *middleware: Any) -> Any:
    model = ChatOpenAI(
        model="scripted", base_url=scripted.openai_url, api_key="unused", max_retries=0
    )
    return create_agent(model, [shout], middleware=middleware)


async def test_without_it_the_run_ends_silently():
    """What the middleware is for: no answer, no error."""
    with ScriptedModel([ToolCall("shout", '{"word": "a'), "never"]) as scripted:
        out = await agent(scripted).ainvoke(ASK)
    assert [len(scripted.requests), scripted.left] == [1, 1]
    assert out["messages"][-1].text == ""


@pytest.mark.parametrize(
    ("arguments", "fault"),
    [
        ('{"word": "a', "not valid JSON (Unterminated string"),
        ("word=a", "not valid JSON (Expecting value"),
    ],
)
async def test_model_is_told_and_tries_again(arguments: str, fault: str):
    """The next request carries an error for the call, and the second try works."""
    script = [ToolCall("shout", arguments), ToolCall("shout", {"word": "a"}), "Said {tool_result}"]
    with ScriptedModel(script) as scripted:
        out = await agent(scripted, repair_invalid_tool_calls).ainvoke(ASK)
    assert out["messages"][-1].text == "Said A"
    told = scripted.requests[1].tool_results[0]
    assert told.startswith(f"shout was not called: its arguments are {fault}")


async def test_json_that_is_no_object():
    """A list as arguments, which comes through in a stream, is told apart."""
    with ScriptedModel([ToolCall("shout", '["a"]'), "Sorry."]) as scripted:
        made = agent(scripted, repair_invalid_tool_calls)
        async for _ in made.astream(ASK, stream_mode="messages"):
            pass
    (told,) = scripted.requests[1].tool_results
    assert told.startswith("shout was not called: its arguments are JSON, but not an object.")


def test_synchronous_agent():
    """The same in `invoke`."""

    @tool
    def shout(word: str) -> str:
        """Shout a word."""
        return word.upper()

    with ScriptedModel([ToolCall("shout", "nonsense"), "Sorry."]) as scripted:
        model = ChatOpenAI(model="scripted", base_url=scripted.openai_url, api_key="unused")
        made = create_agent(model, [shout], middleware=[repair_invalid_tool_calls])
        assert made.invoke(ASK)["messages"][-1].text == "Sorry."


async def test_valid_calls_beside_it_run():
    """One bad call of two: the good one runs, the bad one is answered."""
    both = [ToolCall("shout", {"word": "a"}), ToolCall("shout", "nonsense")]
    with ScriptedModel([both, "Done."]) as scripted:
        out = await agent(scripted, repair_invalid_tool_calls).ainvoke(ASK)
    assert out["messages"][-1].text == "Done."
    results = sorted(scripted.requests[1].tool_results)
    assert results[0] == "A"
    assert results[1].startswith("shout was not called")


async def test_a_model_that_never_learns():
    """After three tries in a row the run ends as it would without the middleware."""
    with ScriptedModel([ToolCall("shout", "nonsense")] * 6) as scripted:
        out = await agent(scripted, repair_invalid_tool_calls).ainvoke(ASK)
    assert len(scripted.requests) == 4
    assert isinstance(out["messages"][-1], AIMessage)


async def test_ordinary_replies_are_left_alone():
    """Nothing is added where nothing is wrong."""
    with ScriptedModel(["Hello."]) as scripted:
        out = await agent(scripted, repair_invalid_tool_calls).ainvoke(ASK)
    assert [message.type for message in out["messages"]] == ["human", "ai"]
