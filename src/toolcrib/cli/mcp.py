"""This module holds the commands for MCP servers that tools come from."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from toolcrib.cli.answers import Answer, listed
from toolcrib.cli.command import command, group
from toolcrib.cli.paths import path

if TYPE_CHECKING:
    from toolcrib.cli.client import Client

mcp = group("mcp", "MCP servers that tools come from.")
COLUMNS = ("ref", "label", "status", "tools", "error", "checked_at")
NONE = "No capability of type mcp is yours to use."


@command(mcp, "servers", "toolcrib mcp servers")
async def list_servers(client: Client) -> Answer:
    """List the servers of your capabilities: whether they answer, and with which tools."""
    return listed(await client.get(path("mcp", "servers")), *COLUMNS, empty=NONE)


@command(mcp, "refresh", "toolcrib mcp refresh mcp:3")
async def refresh_server(
    client: Client, ref: Annotated[str, typer.Argument(help="The server, mcp:<capability id>.")]
) -> Answer:
    """Connect to a server if need be, and read its list of tools now."""
    row = await client.post(path("mcp", "servers", ref, "refresh"))
    return listed({"items": [row], "next_cursor": None}, *COLUMNS, empty=NONE)
