"""This module loads tool groups for a call and reaches the tools that come from outside.

What an agent may use was granted before: loading shows guides and notes the group in the chat, and
grants nothing. A tool from outside is called as any caller would call it, limits and record
included.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from toolcrib.errors import NotGranted
from toolcrib.kit.catalogue import class_of
from toolcrib.kit.meta import arguments_in, guides_of, names_in, refusal_of
from toolcrib.kit.result import ToolResult, failed
from toolcrib.kit.tool import names_of
from toolcrib.plugin.lent import Lent, Row, Toolbox
from toolcrib.tools.result import Output, TextPart


async def initialize(lent: Lent, names: str | list[str]) -> ToolResult:
    """`{status, message, guides, activated_tools, _internal}` of those that the agent may use."""
    wanted = names_in(names)
    if (refused := refusal_of(wanted)) is not None:
        return refused
    held = {row["name"] for row in await lent.toolbox.list() if row["kind"] == "native"}
    loaded = [name for name in wanted if held.intersection(_functions(name))]
    if not loaded:
        return failed(f"This agent was not given {', '.join(wanted)}: ask for a grant.")
    await _noted(lent, loaded)
    return guides_of(loaded, among=len(wanted))


def external(tools: Iterable[Row], pattern: str | None) -> dict[str, Any]:
    """`{available_tools: {name: schema}, total_count, toolkits, filter_applied}`."""
    outside = [row for row in tools if row["kind"] != "native"]
    chosen = {row["name"]: _schema(row) for row in outside if _matches(row["name"], pattern)}
    return {
        "available_tools": chosen,
        "total_count": len(chosen),
        "toolkits": list(dict.fromkeys(row["code"] for row in outside)),
        "filter_applied": pattern,
    }


async def execute(toolbox: Toolbox, name: str, given: Mapping[str, Any] | str | None) -> ToolResult:
    """Call a tool from outside. A native function is refused with a hint."""
    arguments = arguments_in(given)
    if arguments is None:
        return failed("args must be a JSON object.")
    found = next((row for row in await toolbox.list() if row["name"] == name), None)
    if found is None:
        return failed(f"This agent has no tool {name!r}; discover_mcp_tools lists what there is.")
    if found["kind"] == "native":
        return failed(f"{name!r} is a function of this agent's own: call it directly.")
    return _result(await toolbox.call(name, arguments))


async def _noted(lent: Lent, names: Sequence[str]) -> None:
    """Outside a chat there is nothing to note it in."""
    try:
        await lent.chats.add_tools(names)
    except NotGranted:
        return


def _functions(group: str) -> list[str]:
    kind = class_of(group)
    return [] if kind is None else names_of(kind)


def _schema(row: Row) -> dict[str, Any]:
    function = {
        "name": row["name"],
        "description": row["description"],
        "parameters": row["input_schema"],
    }
    return {"type": "function", "function": function}


def _matches(name: str, pattern: str | None) -> bool:
    if not pattern:
        return True
    if "," in pattern:
        return name in {part.strip() for part in pattern.split(",")}
    return pattern.lower() in name.lower()


def _result(output: Output) -> ToolResult:
    if all(isinstance(part, TextPart) for part in output.parts):
        return ToolResult(success=output.success, output=output.text)
    return ToolResult(success=output.success, output=[part.as_json() for part in output.parts])
