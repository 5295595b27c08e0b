"""This module holds the commands for capabilities: rows that put a code's tools within reach."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any, Literal

import typer

from toolcrib.cli.answers import Answer, listed, record, said
from toolcrib.cli.command import command, group
from toolcrib.cli.documents import is_file, read_document
from toolcrib.cli.options import Cursor, IfVersion, Limit, given, json_object
from toolcrib.cli.paths import CAPABILITIES
from toolcrib.errors import InvalidRequest

if TYPE_CHECKING:
    from toolcrib.cli.client import Client

capabilities = group("capabilities", "Rows that put the tools of a code within somebody's reach.")
CapabilityId = Annotated[int, typer.Argument(metavar="CAPABILITY", help="The capability's id.")]
Code = Annotated[str, typer.Argument(help="The code, or several separated by commas.")]
Kind = Literal["internal", "mcp", "api"]
Access = Literal["system", "group", "user", "private"]
Name = Annotated[str | None, typer.Option(help="A name for people.")]
Description = Annotated[str | None, typer.Option(help="What it is for.")]
Default = Annotated[
    bool | None, typer.Option("--default/--no-default", help="Attach it to new agents.")
]
Ordering = Annotated[int | None, typer.Option(help="Its place in lists; lower is earlier.")]
Options = Annotated[
    str | None, typer.Option("--options", help="A JSON object, @FILE, or - for stdin.")
]
GroupOption = Annotated[int | None, typer.Option("--group", help="The group it belongs to.")]


@command(capabilities, "list", "toolcrib capabilities list")
async def list_capabilities(
    client: Client,
    code: Annotated[str | None, typer.Option(help="Only those of this code.")] = None,
    archived: Annotated[bool, typer.Option("--archived", help="The archived ones, too.")] = False,
    limit: Limit = 50,
    cursor: Cursor = None,
) -> Answer:
    """List the capabilities."""
    query: dict[str, Any] = {"archived": True} if archived else {}
    page = await client.get(CAPABILITIES, code=code, limit=limit, cursor=cursor, **query)
    columns = ("id", "name", "code", "type", "access_type", "group_id", "is_default")
    return listed(page, *columns, empty="There are none. See `toolcrib capabilities registered`.")


@command(capabilities, "show", "toolcrib capabilities show 1")
async def show_capability(client: Client, capability_id: CapabilityId) -> Answer:
    """Show a capability."""
    return record(await client.get(f"{CAPABILITIES}/{capability_id}"))


@command(capabilities, "registered", "toolcrib capabilities registered --group 1", plugins=True)
async def list_registered(
    client: Client,
    group_id: Annotated[int, typer.Option("--group", help="Activated for which group?")],
) -> Answer:
    """List the codes that loaded plugins register, and which are activated for a group."""
    page = await client.get(f"{CAPABILITIES}/registered-tools", group_id=group_id)
    columns = ("code", "name", "tools", "activated", "capability_id")
    empty = "No loaded plugin registers tools. See `toolcrib plugins list`."
    return listed(page, *columns, empty=empty)


@command(
    capabilities, "activate", "toolcrib capabilities activate hello_notes --group 1", plugins=True
)
async def activate_code(
    client: Client,
    code: Annotated[str, typer.Argument(help="The code, one that a loaded plugin registers.")],
    *,
    group_id: Annotated[int, typer.Option("--group", help="The group that gets it.")],
    name: Name = None,
    description: Description = None,
    is_default: Default = None,
    ordering: Ordering = None,
) -> Answer:
    """Make a capability of a registered code for a group; its name comes from the plugin."""
    body = given(
        code=code,
        group_id=group_id,
        name=name,
        description=description,
        is_default=is_default,
        ordering=ordering,
    )
    return record(await client.post(f"{CAPABILITIES}/from-registered-tool", body))


@command(
    capabilities,
    "create",
    "toolcrib capabilities create weather.json",
    "toolcrib capabilities create hello --name Hello",
)
async def create_capability(
    client: Client,
    source: Annotated[
        str,
        typer.Argument(metavar="CODE|FILE", help="A code, a .json file with the row, or -."),
    ],
    *,
    name: Name = None,
    kind: Annotated[
        Kind | None, typer.Option("--type", help="Where its tools come from: internal.")
    ] = None,
    access: Annotated[Access | None, typer.Option(help="Who may use it: user.")] = None,
    group_id: GroupOption = None,
    description: Description = None,
    is_default: Default = None,
    ordering: Ordering = None,
    options: Options = None,
) -> Answer:
    """Make a capability by hand: of a code and options, or of a file that holds the whole row.

    What is said beside a file wins over what stands in it."""
    row = read_document(source) if is_file(source) else {"code": source}
    row |= given(
        name=name,
        type=kind,
        access_type=access,
        group_id=group_id,
        description=description,
        is_default=is_default,
        ordering=ordering,
        options=json_object(options, where="options"),
    )
    if "name" not in row:
        raise InvalidRequest("A capability needs a name.", where="name", hint="Add --name.")
    return record(await client.post(CAPABILITIES, row))


@command(capabilities, "update", "toolcrib capabilities update 1 --name Greetings")
async def update_capability(
    client: Client,
    capability_id: CapabilityId,
    *,
    name: Name = None,
    description: Description = None,
    is_default: Default = None,
    ordering: Ordering = None,
    options: Options = None,
    if_version: IfVersion = None,
) -> Answer:
    """Change a capability."""
    changes = given(
        name=name,
        description=description,
        is_default=is_default,
        ordering=ordering,
        options=json_object(options, where="options"),
    )
    return record(
        await client.patch(f"{CAPABILITIES}/{capability_id}", changes, version=if_version)
    )


@command(capabilities, "archive", "toolcrib capabilities archive 1")
async def archive_capability(client: Client, capability_id: CapabilityId) -> Answer:
    """Put a capability away: agents that hold it show it as skipped."""
    await client.delete(f"{CAPABILITIES}/{capability_id}")
    done = {"id": capability_id, "archived": True}
    return said(f"Capability {capability_id} is archived; `restore` brings it back.", done)


@command(capabilities, "restore", "toolcrib capabilities restore 1")
async def restore_capability(client: Client, capability_id: CapabilityId) -> Answer:
    """Bring an archived capability back."""
    return record(await client.post(f"{CAPABILITIES}/{capability_id}/restore"))
