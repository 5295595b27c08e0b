"""This module holds the commands for settings: the values behind `${NAME}`, never shown again."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from toolcrib.cli.answers import Answer, listed, said
from toolcrib.cli.command import command, group
from toolcrib.cli.options import Cursor, Limit, given, secret
from toolcrib.cli.paths import path

if TYPE_CHECKING:
    from toolcrib.cli.client import Client

settings = group("settings", "Values of users and groups behind ${NAME}, sealed at rest.")
Name = Annotated[str, typer.Argument(help="Letters, digits and underscores.")]
OfUser = Annotated[int | None, typer.Option("--user", help="The user it belongs to.")]
OfGroup = Annotated[int | None, typer.Option("--group", help="The group it belongs to.")]


@command(settings, "list", "toolcrib settings list")
async def list_settings(
    client: Client,
    user: OfUser = None,
    group: OfGroup = None,
    limit: Limit = 50,
    cursor: Cursor = None,
) -> Answer:
    """List names, owners and status; values are never shown."""
    owner = {"user_id": user, "group_id": group}
    page = await client.get(path("settings"), limit=limit, cursor=cursor, **owner)
    return listed(
        page, "name", "user_id", "group_id", "status", "hosts", "updated_at", empty="None is set."
    )


@command(settings, "set", "toolcrib settings set CRM_TOKEN --group 1 < token.txt")
async def set_setting(
    client: Client,
    name: Name,
    user: OfUser = None,
    group: OfGroup = None,
    hosts: Annotated[
        list[str] | None, typer.Option("--host", help="A host it may be sent to; repeat it.")
    ] = None,
    value_file: Annotated[Path | None, typer.Option(help="The file that holds it.")] = None,
) -> Answer:
    """Set a value: asked for, or read from stdin or a file. It is not echoed."""
    owner = given(user_id=user, group_id=group)
    body = {"value": secret(name, value_file), **owner, **given(hosts=hosts)}
    note = await client.store(path("settings", name), body)
    return said(f"{name} is set. {note}".strip(), {"name": name, **owner, "note": note or None})


@command(settings, "delete", "toolcrib settings delete CRM_TOKEN --group 1")
async def delete_setting(
    client: Client, name: Name, user: OfUser = None, group: OfGroup = None
) -> Answer:
    """Delete a value."""
    await client.delete(path("settings", name), user_id=user, group_id=group)
    return said(f"{name} is deleted.", {"name": name, "deleted": True})
