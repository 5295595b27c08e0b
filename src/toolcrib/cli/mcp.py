"""This module holds the commands for MCP servers: those that tools come from, and our own."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Annotated

import typer

from toolcrib.cli.answers import Answer, console, listed, said, say
from toolcrib.cli.command import command, group, plain_command
from toolcrib.cli.options import Cursor, Limit, asked, given
from toolcrib.cli.paths import path
from toolcrib.cli.words import Row
from toolcrib.errors import Conflict, RequestError

if TYPE_CHECKING:
    from toolcrib.cli.client import Client

mcp = group("mcp", "MCP servers that tools come from, and tools served as one.")
COLUMNS = ("ref", "label", "status", "tools", "error", "checked_at")
NONE = "No capability of type mcp is yours to use."
LOGIN_COLUMNS = (
    "ref",
    "label",
    "status",
    "user_id",
    "group_id",
    "error",
    "issuer",
    "scopes",
    "more_scopes",
    "expires_at",
)
Ref = Annotated[str, typer.Argument(help="The server: mcp:<capability id> or package:<slug>.")]
OfGroup = Annotated[int | None, typer.Option("--group", help="The group that it belongs to.")]


@command(mcp, "servers", "toolcrib mcp servers")
async def list_servers(client: Client, limit: Limit = 50, cursor: Cursor = None) -> Answer:
    """List the servers of your capabilities: whether they answer, and with which tools."""
    page = await client.get(path("mcp", "servers"), limit=limit, cursor=cursor)
    return listed(page, *COLUMNS, empty=NONE)


@command(mcp, "refresh", "toolcrib mcp refresh mcp:3")
async def refresh_server(client: Client, ref: Ref) -> Answer:
    """Connect to a server if need be, and read its list of tools now."""
    row = await client.post(path("mcp", "servers", ref, "refresh"))
    return listed({"items": [row], "next_cursor": None}, *COLUMNS, empty=NONE)


@command(mcp, "connections", "toolcrib mcp connections")
async def connections(client: Client, limit: Limit = 50, cursor: Cursor = None) -> Answer:
    """List the servers that want a login, and how it is; tokens are never shown."""
    page = await client.get(path("mcp", "connections"), limit=limit, cursor=cursor)
    return listed(page, *LOGIN_COLUMNS, empty="No server of yours wants a login.")


@command(mcp, "login", "toolcrib mcp login mcp:4")
async def login(
    client: Client,
    ref: Ref,
    group: OfGroup = None,
    code: Annotated[
        str | None, typer.Option("--code", help="Finish a login with the code that it showed.")
    ] = None,
) -> Answer:
    """Log in at a server: prints the address that you open in a browser, and asks for the code
    that stands there at the end. Without a terminal, finish with --code.

    The browser comes back to the running server, so one must be running.
    """
    if code is not None:
        return _connected(ref, await _confirmed(client, ref, group, code))
    row = await client.post(path("mcp", "connections"), {"ref": ref, **given(group_id=group)})
    if row["url"] is None:
        return said(f"{ref} is connected.", row)
    where = f"Open this address yourself, and log in:\n{row['url']}"
    if not sys.stdin.isatty():
        return said(f"{where}\nThen: toolcrib mcp login {ref} --code CODE", row)
    say(console(stderr=True), where)
    return _connected(ref, await _asked(client, ref, group))


def _connected(ref: str, row: Row) -> Answer:
    return said(f"{ref} is connected.", row)


async def _asked(client: Client, ref: str, group: int | None) -> Row:
    """The login, made with a code that a person types: again after a slip, while tries are left."""
    while True:
        code = asked("The code that the page shows at the end")
        try:
            return await _confirmed(client, ref, group, code)
        except (Conflict, RequestError) as error:
            if isinstance(error, RequestError) and error.hint is not None:
                raise  # it is given up
            say(console(stderr=True), str(error))


async def _confirmed(client: Client, ref: str, group: int | None, code: str) -> Row:
    body = {"code": code, **given(group_id=group)}
    return await client.post(path("mcp", "connections", ref, "confirm"), body)


@command(mcp, "logout", "toolcrib mcp logout mcp:4")
async def logout(client: Client, ref: Ref, group: OfGroup = None) -> Answer:
    """Forget a login, and revoke it at its server."""
    await client.delete(path("mcp", "connections", ref), group_id=group)
    return said(f"{ref} is not connected any more.", {"ref": ref, "disconnected": True})


@plain_command(
    mcp,
    "serve",
    "toolcrib mcp serve --code greet --stdio",
    "toolcrib mcp serve --code greet --http --port 9000",
)
def serve(
    code: Annotated[
        list[str],
        typer.Option("--code", help="A code that a plugin registers; may be given again."),
    ],
    http: Annotated[
        bool, typer.Option("--http/--stdio", help="Listen on a port, or speak on stdin and stdout.")
    ] = False,
    host: Annotated[str, typer.Option(help="The address to listen on, with --http.")] = "127.0.0.1",
    port: Annotated[
        int, typer.Option(min=0, max=65535, help="The port, with --http; 0: any free one.")
    ] = 8421,
    as_json: Annotated[
        bool,
        typer.Option("--json", help="Say what is served as JSON; with --stdio on stderr."),
    ] = False,
    debug: Annotated[bool, typer.Option("--debug", help="Show where an error happened.")] = False,
) -> None:
    """Serve a plugin's tools as an MCP server of their own, without a database.

    The plugin's settings are environment variables of the same names. Over HTTP the server is at
    /mcp, and asks for the token of TOOLCRIB_MCP_TOKEN where that is set."""
    from toolcrib.cli.mcp_serving import over_http, over_stdio  # noqa: PLC0415 - not for --help

    codes = [part.strip() for one in code for part in one.split(",") if part.strip()]
    if http:
        over_http(codes, host, port, as_json=as_json)
    else:
        over_stdio(codes, as_json=as_json)
