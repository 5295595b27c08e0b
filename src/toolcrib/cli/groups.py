"""This module holds the commands for groups: the tenants of the installation."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from toolcrib.cli.answers import Answer, listed, record
from toolcrib.cli.command import command, group
from toolcrib.cli.options import Cursor, Limit
from toolcrib.cli.paths import path

if TYPE_CHECKING:
    from toolcrib.cli.client import Client

groups = group("groups", "Tenants: users, agents, settings and capabilities belong to them.")
GroupId = Annotated[int, typer.Argument(metavar="GROUP", help="The group's id.")]


@command(groups, "list", "toolcrib groups list")
async def list_groups(client: Client, limit: Limit = 50, cursor: Cursor = None) -> Answer:
    """List the groups."""
    page = await client.get(path("groups"), limit=limit, cursor=cursor)
    return listed(page, "id", "name", "created_at", empty="There are no groups yet.")


@command(groups, "show", "toolcrib groups show 1")
async def show_group(client: Client, group_id: GroupId) -> Answer:
    """Show a group."""
    return record(await client.get(path("groups", group_id)))


@command(groups, "create", "toolcrib groups create Workshop")
async def create_group(
    client: Client, name: Annotated[str, typer.Argument(help="A name of its own.")]
) -> Answer:
    """Make a group."""
    return record(await client.post(path("groups"), {"name": name}))
