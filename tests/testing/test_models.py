"""The scripted model: what vendors' own clients read from it, and what it keeps of them."""

from __future__ import annotations

from typing import Any

import anthropic
import openai
import pytest

from toolcrib.testing import ScriptedModel, ToolCall

USER: list[Any] = [{"role": "user", "content": "hi"}]
GREET = {
    "name": "greet",
    "description": "Greet.",
    "parameters": {"type": "object", "properties": {"name": {"type": "string"}}},
}
CALL = ToolCall("greet", {"name": "Ada"})


def openai_client(scripted: ScriptedModel) -> openai.OpenAI:
    return openai.OpenAI(base_url=scripted.openai_url, api_key="my-key", max_retries=0)


def anthropic_client(scripted: ScriptedModel) -> anthropic.Anthropic:
    return anthropic.Anthropic(base_url=scripted.anthropic_url, api_key="my-key", max_retries=0)


def test_chat_completions():
    """A call, its result, the answer made of it, in OpenAI's first format."""
    with ScriptedModel([CALL, "It said: {tool_result}"]) as scripted, openai_client(scripted) as ai:
        tools: Any = [{"type": "function", "function": GREET}]
        first = ai.chat.completions.create(model="m", messages=USER, tools=tools)
        message = first.choices[0].message
        assert first.choices[0].finish_reason == "tool_calls"
        assert message.tool_calls is not None
        call: Any = message.tool_calls[0]
        assert (call.function.name, call.function.arguments) == ("greet", '{"name": "Ada"}')
        result = {"role": "tool", "tool_call_id": call.id, "content": "Hello, Ada!"}
        talk: Any = [*USER, message.model_dump(), result]
        second = ai.chat.completions.create(model="m", messages=talk)
    assert second.choices[0].message.content == "It said: Hello, Ada!"
    assert second.model == "m"
    assert [request.path for request in scripted.requests] == ["/v1/chat/completions"] * 2
    assert scripted.requests[0].tool_names == ["greet"]
    assert scripted.requests[0].tool_results == []
    assert scripted.requests[1].tool_results == ["Hello, Ada!"]
    assert scripted.requests[0].headers["authorization"] == "Bearer my-key"
    assert scripted.left == 0


def test_chat_completions_streamed():
    """The same in pieces, usage at the end when it is asked for."""
    with ScriptedModel(["Some words here."]) as scripted, openai_client(scripted) as ai:
        options: Any = {"include_usage": True}
        stream = ai.chat.completions.create(
            model="m", messages=USER, stream=True, stream_options=options
        )
        chunks = list(stream)
    texts = [chunk.choices[0].delta.content for chunk in chunks if chunk.choices]
    assert [text for text in texts if text] == ["Some", " words", " here."]
    assert chunks[-1].usage is not None


def test_responses():
    """OpenAI's second format, with hosted servers beside functions."""
    hosted = {"type": "mcp", "server_label": "wiki", "server_url": "https://wiki.test"}
    with ScriptedModel([[CALL, CALL], "{tool_result}!"]) as scripted, openai_client(scripted) as ai:
        tools: Any = [{"type": "function", **GREET}, hosted]
        first = ai.responses.create(model="m", input="hi", tools=tools)
        calls: Any = first.output
        assert [call.name for call in calls] == ["greet", "greet"]
        assert calls[0].call_id != calls[1].call_id
        outputs: Any = [
            {"type": "function_call_output", "call_id": call.call_id, "output": f"hello {n}"}
            for n, call in enumerate(calls)
        ]
        second = ai.responses.create(model="m", input=outputs)
    assert second.output_text == "hello 1!"
    assert scripted.requests[0].tool_names == ["greet"]
    assert scripted.requests[0].tools[1] == hosted
    assert scripted.requests[1].tool_results == ["hello 0", "hello 1"]


def test_responses_streamed():
    """Events in the order of the real API; the client's own parser puts them together."""
    with ScriptedModel(["Some words.", CALL]) as scripted, openai_client(scripted) as ai:
        with ai.responses.stream(model="m", input="hi") as stream:
            kinds = [event.type for event in stream]
            assert stream.get_final_response().output_text == "Some words."
        with ai.responses.stream(model="m", input="hi") as stream:
            final: Any = stream.get_final_response().output[0]
    assert kinds[0] == "response.created"
    assert kinds[-1] == "response.completed"
    assert kinds.count("response.output_text.delta") == 2
    assert (final.name, final.arguments) == ("greet", '{"name": "Ada"}')


def test_messages():
    """Anthropic's format."""
    tool: Any = {"name": "greet", "input_schema": GREET["parameters"]}
    with ScriptedModel([CALL, "{tool_result}"]) as scripted, anthropic_client(scripted) as claude:
        given: Any = {"model": "m", "max_tokens": 10, "tools": [tool]}
        first = claude.messages.create(messages=USER, **given)
        assert first.stop_reason == "tool_use"
        block: Any = first.content[0]
        assert (block.name, block.input) == ("greet", {"name": "Ada"})
        result = [{"type": "text", "text": "Hello, Ada!"}]
        answer: Any = {"type": "tool_result", "tool_use_id": block.id, "content": result}
        talk: Any = [
            *USER,
            {"role": "assistant", "content": [block.model_dump()]},
            {"role": "user", "content": [answer]},
        ]
        second: Any = claude.messages.create(messages=talk, **given)
    assert second.content[0].text == "Hello, Ada!"
    assert second.stop_reason == "end_turn"
    assert scripted.requests[0].tool_names == ["greet"]
    assert scripted.requests[0].headers["anthropic-version"]


def test_messages_streamed():
    """Text and arguments come in pieces; the client's own parser puts them together."""
    with ScriptedModel(["Some words.", CALL]) as scripted, anthropic_client(scripted) as claude:
        given: Any = {"model": "m", "max_tokens": 10, "messages": USER}
        with claude.messages.stream(**given) as stream:
            assert list(stream.text_stream) == ["Some", " words."]
        with claude.messages.stream(**given) as stream:
            final: Any = stream.get_final_message()
    assert final.content[0].input == {"name": "Ada"}
    assert final.stop_reason == "tool_use"


def test_text_is_sent_as_arguments_as_it_is():
    """What a model gets wrong can be written into the script."""
    script = [ToolCall("greet", '{"name": "A')]
    with ScriptedModel(script) as scripted, openai_client(scripted) as ai:
        reply = ai.chat.completions.create(model="m", messages=USER)
    calls: Any = reply.choices[0].message.tool_calls
    assert calls[0].function.arguments == '{"name": "A'


def test_what_a_format_cannot_say():
    """Anthropic sends arguments as an object, so a whole reply refuses what is none."""
    script = [ToolCall("greet", "no json")]
    with (
        ScriptedModel(script) as scripted,
        anthropic_client(scripted) as claude,
        pytest.raises(anthropic.BadRequestError, match="only a stream holds 'no json'"),
    ):
        claude.messages.create(model="m", max_tokens=10, messages=USER)


def test_end_of_the_script():
    """One request too many is an error that says so, and is kept too."""
    with ScriptedModel([]) as scripted, openai_client(scripted) as ai:
        with pytest.raises(openai.BadRequestError, match="The script has ended: this is request 1"):
            ai.chat.completions.create(model="m", messages=USER)
        assert len(scripted.requests) == 1


def test_unknown_path():
    """Whatever else a client asks for is not there."""
    with (
        ScriptedModel([]) as scripted,
        openai_client(scripted) as ai,
        pytest.raises(openai.NotFoundError),
    ):
        ai.embeddings.create(model="m", input="x")


def test_address_before_the_start():
    """A model that is not started has no address, and says what is missing."""
    with pytest.raises(RuntimeError, match="not started"):
        _ = ScriptedModel([]).openai_url


async def test_inside_a_loop():
    """It runs beside an event loop, for asynchronous clients."""
    async with (
        ScriptedModel(["Hello."]) as scripted,
        openai.AsyncOpenAI(base_url=scripted.openai_url, api_key="k") as ai,
    ):
        reply = await ai.chat.completions.create(model="m", messages=USER)
    assert reply.choices[0].message.content == "Hello."


def test_fixture(scripted_model: Any):
    """The pytest plugin starts scripted models and ends them."""
    scripted = scripted_model(CALL, "Done.")
    with openai_client(scripted) as ai:
        ai.chat.completions.create(model="m", messages=USER)
    assert scripted.left == 1
