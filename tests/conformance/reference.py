"""This module is a server on the official SDK with the tools that the conformance suite calls.

    python -m tests.conformance.reference PORT

It is what passes directly; the gateway in front of it has to pass what it passes.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Mapping
from typing import Annotated, Any

import anyio
import mcp_types as types
import uvicorn
from mcp.server.mcpserver import Context, MCPServer
from mcp.server.streamable_http import EventCallback, EventId, EventMessage, EventStore, StreamId
from mcp.shared.exceptions import MCPError
from mcp_types.version import MODERN_PROTOCOL_VERSIONS
from pydantic import Field

PNG = (
    "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJ"
    "AAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=="
)
WAV = "UklGRiQAAABXQVZFZm10IBAAAAABAAEAQB8AAIA+AAACABAAZGF0YQAAAAA="

server = MCPServer("toolcrib-conformance", version="1.0.0")
Result = types.CallToolResult | types.InputRequiredResult


def say(text: str, **more: Any) -> types.CallToolResult:
    return types.CallToolResult(content=[types.TextContent(type="text", text=text)], **more)


def resource(uri: str, text: str, kind: str) -> types.EmbeddedResource:
    return types.EmbeddedResource(
        type="resource", resource=types.TextResourceContents(uri=uri, mime_type=kind, text=text)
    )


def image() -> types.ImageContent:
    return types.ImageContent(type="image", data=PNG, mime_type="image/png")


# --- what a result can hold -----------------------------------------------------------------------


@server.tool()
def test_simple_text() -> types.CallToolResult:
    """One text."""
    return say("This is a simple text response for testing.")


@server.tool()
def test_image_content() -> types.CallToolResult:
    """One image."""
    return types.CallToolResult(content=[image()])


@server.tool()
def test_audio_content() -> types.CallToolResult:
    """One sound."""
    sound = types.AudioContent(type="audio", data=WAV, mime_type="audio/wav")
    return types.CallToolResult(content=[sound])


@server.tool()
def test_embedded_resource() -> types.CallToolResult:
    """A resource inside the result."""
    block = resource("test://embedded-resource", "An embedded resource.", "text/plain")
    return types.CallToolResult(content=[block])


@server.tool()
def test_multiple_content_types() -> types.CallToolResult:
    """Text, an image and a resource."""
    text = types.TextContent(type="text", text="Multiple content types test:")
    block = resource("test://mixed-content-resource", '{"test":"data"}', "application/json")
    return types.CallToolResult(content=[text, image(), block])


@server.tool()
def test_error_handling() -> types.CallToolResult:
    """Fails, and says so in its result."""
    return say("This tool intentionally returns an error for testing", is_error=True)


# --- what a call says while it runs ---------------------------------------------------------------


async def log(ctx: Context, text: str) -> None:
    await ctx.session.send_log_message(  # pyright: ignore[reportDeprecated] - older clients hear it
        "info", text, related_request_id=ctx.request_id
    )


async def three_lines(ctx: Context) -> None:
    for text in ("Tool execution started", "Tool processing data", "Tool execution completed"):
        await log(ctx, text)
        await anyio.sleep(0.05)


@server.tool()
async def test_tool_with_logging(ctx: Context) -> types.CallToolResult:
    """Three log lines."""
    await three_lines(ctx)
    return say("Tool with logging executed successfully")


@server.tool()
async def test_logging_tool(ctx: Context) -> types.CallToolResult:
    """Log lines, for whoever asked for them."""
    await three_lines(ctx)
    return say("Logged.")


@server.tool()
async def test_tool_with_progress(ctx: Context) -> types.CallToolResult:
    """Progress in three steps."""
    for step in (0, 50, 100):
        await ctx.report_progress(step, 100, f"Completed step {step} of 100")
        await anyio.sleep(0.05)
    return say("Progress was reported.")


@server.tool()
async def test_reconnection(ctx: Context) -> types.CallToolResult:
    """Closes its stream in the middle of the call."""
    await ctx.close_sse_stream()
    await anyio.sleep(0.2)
    return say("Reconnection test completed successfully")


@server.tool()
async def test_trigger_tool_change(ctx: Context) -> types.CallToolResult:
    """Adds a tool and says that the list changed."""
    names = {tool.name for tool in await server.list_tools()}
    server.add_tool(test_simple_text, name=f"added_{len(names)}")
    await ctx.notify_tools_changed()
    return say("The list of tools changed.")


# --- what a session's call asks back --------------------------------------------------------------


async def ask(ctx: Context, message: str, **properties: Any) -> Result:
    """Asks the user as the era wants it: in the middle of the call, or before it goes on."""
    schema = {"type": "object", "properties": properties, "required": list(properties)}
    if ctx.protocol_version in MODERN_PROTOCOL_VERSIONS:
        answer = given(ctx, "asked")
        if not isinstance(answer, types.ElicitResult):
            return need(asked=form(message, **properties))
    else:
        answer = await ctx.session.elicit_form(message, schema, related_request_id=ctx.request_id)
    return say(f"Elicitation completed: action={answer.action}, content={answer.content}")


@server.tool()
async def test_elicitation(message: str, ctx: Context) -> Result:
    """Asks the user."""
    return await ask(ctx, message, response={"type": "string", "description": "User's response"})


DEFAULTS: dict[str, Any] = {
    "name": {"type": "string", "default": "John Doe"},
    "age": {"type": "integer", "default": 30},
    "score": {"type": "number", "default": 95.5},
    "status": {
        "type": "string",
        "enum": ["active", "inactive", "pending"],
        "default": "active",
    },
    "verified": {"type": "boolean", "default": True},
}


@server.tool()
async def test_elicitation_sep1034_defaults(ctx: Context) -> Result:
    """Asks with a default for each kind of field."""
    return await ask(ctx, "Please review the form", **DEFAULTS)


CHOICES: dict[str, Any] = {
    "untitledSingle": {"type": "string", "enum": ["option1", "option2", "option3"]},
    "titledSingle": {
        "type": "string",
        "oneOf": [
            {"const": "value1", "title": "First Option"},
            {"const": "value2", "title": "Second Option"},
            {"const": "value3", "title": "Third Option"},
        ],
    },
    "legacyEnum": {
        "type": "string",
        "enum": ["opt1", "opt2", "opt3"],
        "enumNames": ["Option One", "Option Two", "Option Three"],
    },
    "untitledMulti": {
        "type": "array",
        "items": {"type": "string", "enum": ["option1", "option2", "option3"]},
    },
    "titledMulti": {
        "type": "array",
        "items": {
            "anyOf": [
                {"const": "value1", "title": "First Choice"},
                {"const": "value2", "title": "Second Choice"},
                {"const": "value3", "title": "Third Choice"},
            ]
        },
    },
}


@server.tool()
async def test_elicitation_sep1330_enums(ctx: Context) -> Result:
    """Asks with each kind of choice."""
    return await ask(ctx, "Please choose", **CHOICES)


@server.tool()
async def test_sampling(prompt: str, ctx: Context) -> types.CallToolResult:
    """Asks the client's model."""
    message = types.SamplingMessage(
        role="user", content=types.TextContent(type="text", text=prompt)
    )
    answer = await ctx.session.create_message(  # pyright: ignore[reportDeprecated]
        [message], max_tokens=100, related_request_id=ctx.request_id
    )
    return say(f"LLM response: {answer.content}")


# --- what a call of the newer era needs first -----------------------------------------------------


def form(message: str, **properties: Any) -> types.ElicitRequest:
    schema = {"type": "object", "properties": properties, "required": list(properties)}
    params = types.ElicitRequestFormParams(message=message, requested_schema=schema)
    return types.ElicitRequest(params=params)


def sample(text: str) -> types.CreateMessageRequest:
    message = types.SamplingMessage(role="user", content=types.TextContent(type="text", text=text))
    params = types.CreateMessageRequestParams(messages=[message], max_tokens=100)
    return types.CreateMessageRequest(params=params)


def need(state: str | None = None, **requests: Any) -> types.InputRequiredResult:
    return types.InputRequiredResult(input_requests=requests, request_state=state)


def given(ctx: Context, name: str) -> Any:
    return (ctx.input_responses or {}).get(name)


NAME = {"type": "string"}
ASK_NAME: Callable[[], types.ElicitRequest] = lambda: form("What is your name?", name=NAME)  # noqa: E731


@server.tool()
async def test_input_required_result_elicitation(ctx: Context) -> Result:
    """Asks for a name."""
    answer = given(ctx, "user_name")
    if not isinstance(answer, types.ElicitResult):
        return need(user_name=ASK_NAME())
    return say(f"Hello, {(answer.content or {}).get('name')}!")


@server.tool()
async def test_streaming_elicitation(ctx: Context) -> Result:
    """Asks, after it reported progress."""
    await ctx.report_progress(1, 2)
    if given(ctx, "user_name") is None:
        return need(user_name=ASK_NAME())
    return say("Thank you.")


@server.tool()
async def test_input_required_result_sampling(ctx: Context) -> Result:
    """Asks the client's model."""
    answer = given(ctx, "capital_question")
    if answer is None:
        return need(capital_question=sample("What is the capital of France?"))
    return say(f"The model said: {answer.model_dump_json()}")


@server.tool()
async def test_input_required_result_list_roots(ctx: Context) -> Result:
    """Asks for the client's roots."""
    answer = given(ctx, "client_roots")
    if answer is None:
        return need(client_roots=types.ListRootsRequest())
    return say(f"Roots: {answer.model_dump_json()}")


@server.tool()
async def test_input_required_result_request_state(ctx: Context) -> Result:
    """Keeps its state with the client."""
    if given(ctx, "confirm") is None:
        return need("confirming", confirm=form("Please confirm", ok={"type": "boolean"}))
    return say("state-ok" if ctx.request_state == "confirming" else "state-lost")


@server.tool()
async def test_input_required_result_tampered_state(ctx: Context) -> Result:
    """Keeps its state with the client, who may not change it."""
    if given(ctx, "confirm") is None:
        return need("sealed", confirm=form("Please confirm", ok={"type": "boolean"}))
    return say(f"state: {ctx.request_state}")


@server.tool()
async def test_input_required_result_multiple_inputs(ctx: Context) -> Result:
    """Asks three things at once."""
    wanted = {
        "user_name": ASK_NAME(),
        "greeting": sample("Generate a greeting"),
        "client_roots": types.ListRootsRequest(),
    }
    if any(given(ctx, name) is None for name in wanted):
        return need("several", **wanted)
    return say("All inputs were given.")


@server.tool()
async def test_input_required_result_multi_round(ctx: Context) -> Result:
    """Asks twice."""
    if ctx.request_state is None:
        return need("one", step1=form("Step 1: What is your name?", name=NAME))
    if ctx.request_state == "one":
        return need("two", step2=form("Step 2: What is your favorite color?", color=NAME))
    return say("Both steps are done.")


@server.tool()
async def test_input_required_result_capabilities(ctx: Context) -> Result:
    """Asks only what the client can answer."""
    able = ctx.client_capabilities
    wanted: dict[str, Any] = {}
    if able is not None and able.elicitation is not None:
        wanted["user_name"] = ASK_NAME()
    if able is not None and able.sampling is not None:
        wanted["greeting"] = sample("Generate a greeting")
    return need(**wanted) if wanted and not ctx.input_responses else say("Nothing is needed.")


@server.tool()
async def test_missing_capability(ctx: Context) -> types.CallToolResult:
    """Cannot work without sampling."""
    able = ctx.client_capabilities
    if able is None or able.sampling is None:
        needed = {"requiredCapabilities": {"sampling": {}}}
        raise MCPError(types.MISSING_REQUIRED_CLIENT_CAPABILITY, "Sampling is needed.", needed)
    return say("Sampling is there.")


# --- schemas and headers --------------------------------------------------------------------------

SCHEMA: dict[str, Any] = {
    "$schema": "https://json-schema.org/draft/2020-12/schema",
    "type": "object",
    "$defs": {
        "address": {
            "$anchor": "addressDef",
            "type": "object",
            "properties": {"street": {"type": "string"}, "city": {"type": "string"}},
        }
    },
    "properties": {
        "name": {"type": "string"},
        "address": {"$ref": "#/$defs/address"},
        "contactMethod": {"type": "string", "enum": ["phone", "email"]},
        "phone": {"type": "string"},
        "email": {"type": "string"},
    },
    "allOf": [{"anyOf": [{"required": ["phone"]}, {"required": ["email"]}]}],
    "if": {"properties": {"contactMethod": {"const": "phone"}}, "required": ["contactMethod"]},
    "then": {"required": ["phone"]},
    "else": {"required": ["email"]},
    "additionalProperties": False,
}


@server.tool()
def json_schema_2020_12_tool() -> types.CallToolResult:
    """Has the schema that the suite looks for."""
    return say("ok")


Region = Annotated[str, Field(json_schema_extra={"x-mcp-header": "Region"})]


@server.tool()
def test_headers(region: Region, query: str) -> types.CallToolResult:
    """One argument is mirrored in a header."""
    return say(f"{region}: {query}")


# --- what the gateway does not offer --------------------------------------------------------------


@server.resource("test://static-text", mime_type="text/plain")
def static_text() -> str:
    """A text."""
    return "This is the content of the static text resource."


@server.prompt()
def test_simple_prompt() -> str:
    """A prompt."""
    return "This is a simple prompt for testing."


class Events(EventStore):
    """What a stream said, for clients that come back to it."""

    def __init__(self) -> None:
        self._events: list[tuple[StreamId, types.JSONRPCMessage | None]] = []

    async def store_event(
        self, stream_id: StreamId, message: types.JSONRPCMessage | None
    ) -> EventId:
        self._events.append((stream_id, message))
        return str(len(self._events))

    async def replay_events_after(
        self, last_event_id: EventId, send_callback: EventCallback
    ) -> StreamId | None:
        place = int(last_event_id)
        if not 0 < place <= len(self._events):
            return None
        stream = self._events[place - 1][0]
        for number, (whose, message) in enumerate(self._events[place:], start=place + 1):
            if whose == stream and message is not None:
                await send_callback(EventMessage(message, str(number)))
        return stream


async def _set_level(ctx: Any, params: types.SetLevelRequestParams) -> types.EmptyResult:
    """Everything is sent, whatever the level."""
    return types.EmptyResult()


def app() -> Any:
    """The server as an ASGI application at `/mcp`."""
    _give_schema(SCHEMA)
    server._lowlevel_server.add_request_handler(
        "logging/setLevel", types.SetLevelRequestParams, _set_level
    )
    return server.streamable_http_app(event_store=Events(), retry_interval=100)


def _give_schema(schema: Mapping[str, Any]) -> None:
    """The SDK makes schemas of functions only, and the suite wants one of its own."""
    tool = server._tool_manager.get_tool("json_schema_2020_12_tool")
    assert tool is not None
    tool.parameters = dict(schema)


if __name__ == "__main__":
    uvicorn.run(app(), port=int(sys.argv[1]), log_level="warning")
