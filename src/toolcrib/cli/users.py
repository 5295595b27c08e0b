"""This module holds the commands for users: people and machine accounts."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

import typer

from toolcrib.cli.answers import Answer, listed, record, said
from toolcrib.cli.command import command, group
from toolcrib.cli.options import Cursor, IfVersion, Limit, given, secret
from toolcrib.cli.paths import path

if TYPE_CHECKING:
    from toolcrib.cli.client import Client

users = group("users", "People and machine accounts.")
UserId = Annotated[int, typer.Argument(metavar="USER", help="The user's id.")]
Role = Literal["super_admin", "admin", "user"]
Groups = Annotated[list[int] | None, typer.Option("--group", help="A group's id; repeat it.")]
Entitlements = Annotated[
    list[str] | None, typer.Option("--entitlement", help="Such as chat or idp; repeat it.")
]


@command(users, "list", "toolcrib users list")
async def list_users(client: Client, limit: Limit = 50, cursor: Cursor = None) -> Answer:
    """List the users."""
    page = await client.get(path("users"), limit=limit, cursor=cursor)
    return listed(page, "id", "name", "role", "group_ids", "entitlements")


@command(users, "show", "toolcrib users show 1")
async def show_user(client: Client, user_id: UserId) -> Answer:
    """Show a user."""
    return record(await client.get(path("users", user_id)))


@command(users, "create", "toolcrib users create grace --group 1")
async def create_user(
    client: Client,
    name: Annotated[str, typer.Argument(help="A name of their own.")],
    role: Annotated[Role, typer.Option(help="What the user may administer.")] = "user",
    group_ids: Groups = None,
    entitlements: Entitlements = None,
) -> Answer:
    """Make a user. Give them a token with `toolcrib tokens create`."""
    body = {
        "name": name,
        "role": role,
        "group_ids": group_ids or [],
        "entitlements": entitlements or [],
    }
    return record(await client.post(path("users"), body))


@command(users, "update", "toolcrib users update 2 --role admin")
async def update_user(
    client: Client,
    user_id: UserId,
    role: Annotated[Role | None, typer.Option(help="The new role.")] = None,
    group_ids: Groups = None,
    entitlements: Entitlements = None,
    if_version: IfVersion = None,
) -> Answer:
    """Change a user. Groups and entitlements that are given replace the present ones."""
    changes = given(role=role, group_ids=group_ids, entitlements=entitlements)
    return record(await client.patch(path("users", user_id), changes, version=if_version))


@command(users, "password", "toolcrib users password 2 < password.txt")
async def set_password(
    client: Client,
    user_id: UserId,
    value_file: Annotated[Path | None, typer.Option(help="The file that holds it.")] = None,
) -> Answer:
    """Set a user's password: asked for, or read from stdin or a file."""
    body = {"password": secret("Password", value_file)}
    await client.store(path("users", user_id, "password"), body)
    return said(f"The password of user {user_id} is set.", {"user_id": user_id})
