"""Ten thousand tools with words of their own, and an MCP server of the SDK that lists them."""

from __future__ import annotations

import os
import random
from collections.abc import Iterator
from typing import Any, NamedTuple

import mcp_types as types
from mcp.server.lowlevel import Server

VERBS = [
    "create",
    "read",
    "update",
    "delete",
    "list",
    "search",
    "export",
    "import",
    "approve",
    "archive",
    "send",
    "sync",
]
NOUNS = [
    "invoice",
    "customer",
    "contract",
    "matter",
    "ticket",
    "calendar",
    "meeting",
    "document",
    "folder",
    "payment",
    "refund",
    "order",
    "shipment",
    "warehouse",
    "employee",
    "payroll",
    "expense",
    "report",
    "dashboard",
    "metric",
    "alert",
    "pipeline",
    "build",
    "branch",
]
PLACES = ["in the ledger", "of one account", "for a whole team", "between two dates", "as a table"]
PAGE = 1000


class Words(NamedTuple):
    """What one tool is called and what is said of it."""

    name: str
    description: str


def texts(count: int) -> Iterator[Words]:
    """Common verbs and nouns in every text, and a few sparse words that tell tools apart."""
    dice = random.Random(7)  # noqa: S311 - the same texts each time
    for number in range(count):
        verb, noun, place = dice.choice(VERBS), dice.choice(NOUNS), dice.choice(PLACES)
        sparse = f"{rare(dice)} {rare(dice)}"
        said = f"{verb.title()} the {noun} {place}, by its {sparse}. Use it for a {noun}."
        yield Words(f"{verb}_{noun}_{number}", said)


def rare(dice: random.Random) -> str:
    """One of some ten thousand words, the first ones more often."""
    rank = int(10_000 * dice.random() ** 3)
    return "".join("bdfgklmnprst"[rank // 12**n % 12] + "aeiou"[n] for n in range(4))


def as_tool(words: Words) -> types.Tool:
    properties = {
        "id": {"type": "string", "description": "Its number in the ledger."},
        "limit": {"type": "integer", "default": 20},
    }
    schema = {"type": "object", "properties": properties, "required": ["id"]}
    return types.Tool(name=words.name, description=words.description, input_schema=schema)


TOOLS = [as_tool(words) for words in texts(int(os.environ.get("TOOLS", "10000")))]


async def list_tools(ctx: Any, params: Any) -> types.ListToolsResult:
    start = int((params and params.cursor) or 0)
    more = str(start + PAGE) if start + PAGE < len(TOOLS) else None
    return types.ListToolsResult(tools=TOOLS[start : start + PAGE], next_cursor=more)


async def call_tool(ctx: Any, params: types.CallToolRequestParams) -> types.CallToolResult:
    text = types.TextContent(type="text", text=f"{params.arguments}")
    return types.CallToolResult(content=[text])


server = Server(
    "many",
    version="1",
    on_list_tools=list_tools,
    on_call_tool=call_tool,
    get_tool_input_schema=lambda name: TOOLS[0].input_schema,
)
app = server.streamable_http_app(json_response=True)
