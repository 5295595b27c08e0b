"""This module holds the commands for tokens: what programs show at the door."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from toolcrib.cli.answers import Answer, listed, said
from toolcrib.cli.command import command, group
from toolcrib.cli.options import given
from toolcrib.cli.paths import path
from toolcrib.cli.users import UserId

if TYPE_CHECKING:
    from toolcrib.cli.client import Client

tokens = group("tokens", "What programs show at the door. Only a digest of each is kept.")


@command(tokens, "list", "toolcrib tokens list 2")
async def list_tokens(client: Client, user_id: UserId) -> Answer:
    """List a user's tokens, without their text."""
    page = await client.get(path("users", user_id, "tokens"))
    return listed(
        page, "id", "name", "created_at", "expires_at", "agent_id", empty="There are no tokens."
    )


@command(tokens, "create", "toolcrib tokens create 2 --name laptop")
async def create_token(
    client: Client,
    user_id: UserId,
    name: Annotated[str, typer.Option(help="What it is for.")],
    expires_at: Annotated[
        str | None, typer.Option(help="A UTC time, such as 2030-01-31T00:00:00Z; without: never.")
    ] = None,
    agent: Annotated[int | None, typer.Option(help="Let it reach this agent only.")] = None,
) -> Answer:
    """Make a token. It is shown once."""
    body = given(name=name, expires_at=expires_at, agent_id=agent)
    made = await client.post(path("users", user_id, "tokens"), body)
    text = f"{made['token']}\nThis is token {made['id']} of user {user_id}; it is not shown again."
    return said(text, made)


@command(tokens, "revoke", "toolcrib tokens revoke 2 TOKEN_ID")
async def revoke_token(
    client: Client,
    user_id: UserId,
    token_id: Annotated[str, typer.Argument(metavar="TOKEN_ID", help="As the list shows it.")],
) -> Answer:
    """Revoke a token, at once and everywhere."""
    await client.delete(path("users", user_id, "tokens", token_id))
    return said(f"Token {token_id} is revoked.", {"id": token_id, "revoked": True})
