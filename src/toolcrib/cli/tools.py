"""This module holds the commands for tools: what an agent has, a call, and why one is missing."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Annotated, Any

import typer

from toolcrib.cli.answers import Answer, say, table
from toolcrib.cli.command import command, group, verb
from toolcrib.cli.exits import OK, exit_of_code
from toolcrib.cli.options import AsUser, ContextJson, InGroup, given, json_object
from toolcrib.cli.paths import path
from toolcrib.cli.spoken import in_commands
from toolcrib.cli.words import cell

if TYPE_CHECKING:
    from rich.console import Console

    from toolcrib.cli.client import Client

tools = group("tools", "What an agent can do: list, preview, call, explain.")
explain = verb()
OfAgent = Annotated[int, typer.Option("--agent", "-a", help="The agent's id.")]
InChat = Annotated[int | None, typer.Option("--chat", help="In this chat of the caller.")]
ToolName = Annotated[str, typer.Argument(metavar="TOOL", help="The name that the agent sees.")]


@command(tools, "list", "toolcrib tools list --agent 1", plugins=True)
async def list_tools(
    client: Client,
    agent: OfAgent,
    chat: InChat = None,
    context: ContextJson = None,
    user: AsUser = None,
    in_group: InGroup = None,
) -> Answer:
    """List what an agent has, and what it has not, with the reason and the fix."""
    client = client.acting(user=user, group=in_group)
    found = await client.get(path("agents", agent, "tools"), chat_id=chat, context=context)
    return Answer(data=found, show=lambda console: show_toolset(console, found))


@command(
    tools,
    "call",
    """toolcrib tools call --agent 1 hello_greet '{"name": "Grace"}'""",
    "toolcrib tools call --agent 1 hello_greet @arguments.json",
    plugins=True,
)
async def call_tool(
    client: Client,
    tool: ToolName,
    arguments: Annotated[str, typer.Argument(help="A JSON object, @FILE, or - for stdin.")] = "{}",
    *,
    agent: OfAgent,
    chat: InChat = None,
    context: ContextJson = None,
    user: AsUser = None,
    in_group: InGroup = None,
) -> Answer:
    """Call a tool. A tool that fails ends with a code that says how."""
    body = given(
        arguments=json_object(arguments, where="arguments"),
        chat_id=chat,
        context=json_object(context, where="context"),
    )
    client = client.acting(user=user, group=in_group)
    result = await client.post(path("agents", agent, "tools", tool, "call"), body)
    code = OK if result["success"] else exit_of_code(result["error"]["code"])
    return Answer(data=result, show=lambda console: show_result(console, result), exit_code=code)


@command(
    tools,
    "preview",
    """toolcrib tools preview --agent 2 knowledge_search '{"query": "opening hours"}'""",
    plugins=True,
)
async def preview_call(
    client: Client,
    tool: ToolName,
    arguments: Annotated[str, typer.Argument(help="A JSON object, @FILE, or - for stdin.")] = "{}",
    *,
    agent: OfAgent,
    chat: InChat = None,
    user: AsUser = None,
    in_group: InGroup = None,
) -> Answer:
    """Show the request that a call would send, secrets masked. Nothing is sent.

    Ends with a code other than 0 when the call would be refused on its way out."""
    body = given(arguments=json_object(arguments, where="arguments"), chat_id=chat)
    client = client.acting(user=user, group=in_group)
    found = await client.post(path("agents", agent, "tools", tool, "preview"), body)
    code = OK if found["egress"]["allowed"] else exit_of_code("blocked")
    return Answer(data=found, show=lambda console: show_preview(console, found), exit_code=code)


async def explain_tool(
    client: Client, tool: ToolName, *, agent: OfAgent, user: AsUser = None
) -> Answer:
    """Say which rule shows a tool to a user, or keeps it away."""
    found = await client.get(path("explain"), agent=agent, tool=tool, user=user)
    return Answer(data=found, show=lambda console: show_explanation(console, tool, found))


command(tools, "explain", "toolcrib tools explain --agent 1 hello_greet", plugins=True)(
    explain_tool
)
command(explain, "explain", "toolcrib explain --agent 1 hello_greet", plugins=True)(explain_tool)


def show_toolset(console: Console, found: Mapping[str, Any]) -> None:
    if found["tools"]:
        rows = [
            {**tool, "description": _first_line(tool["description"])} for tool in found["tools"]
        ]
        console.print(table(rows, "name", "description", "ref"))
    else:
        say(console, "This caller gets no tools from this agent.")
    if found["skipped"]:
        say(console, "Not there:", style="bold")
        skipped = [{**skip, "fix": in_commands(skip["fix"])} for skip in found["skipped"]]
        console.print(table(skipped, "ref", "reason", "fix"))


def show_result(console: Console, result: Mapping[str, Any]) -> None:
    error = result["error"]
    if error is None or error["message"] not in result["text"]:
        say(console, result["text"])
    if error is not None:
        ours = error["code"] == "secret_missing"
        message = in_commands(error["message"]) if ours else error["message"]
        say(console, f"✗ {error['code']}: {message}", style="red")
    say(console, f"call {result['call_id']}, {result['duration_ms']:.1f} ms", style="dim")


def show_preview(console: Console, found: Mapping[str, Any]) -> None:
    request, egress = found["request"], found["egress"]
    say(console, f"{request['method']} {request['url']}", style="bold")
    for name, value in request["headers"].items():
        say(console, f"{name}: {value}")
    if request["body"] is not None:
        say(console, f"\n{cell(request['body'])}")
    addresses = f" ({', '.join(egress['addresses'])})" if egress["addresses"] else ""
    allowed = egress["allowed"]
    say(
        console,
        f"\n{'✓' if allowed else '✗'} {egress['host'] or 'no host'}{addresses}: {egress['reason']}",
        style="" if allowed else "red",
    )
    say(console, "Nothing was sent.", style="dim")


def show_explanation(console: Console, tool: str, found: Mapping[str, Any]) -> None:
    say(console, f"{tool} is {'there' if found['visible'] else 'not there'}:", style="bold")
    for step in found["steps"]:
        passed = step["verdict"] == "passed"
        say(console, f"{'✓' if passed else '✗'} {step['step']}: {in_commands(step['detail'])}")


def _first_line(text: str) -> str:
    return text.strip().partition("\n")[0]
