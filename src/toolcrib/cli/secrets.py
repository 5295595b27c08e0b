"""This module holds the commands for secrets, the values behind `{{NAME}}`, and for the keys that
seal them and the settings."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from toolcrib.cli.answers import Answer, listed, record, said
from toolcrib.cli.command import command, group, local_command
from toolcrib.cli.options import Cursor, Limit, given, secret
from toolcrib.cli.paths import SECRETS, secret_path
from toolcrib.cli.words import many

if TYPE_CHECKING:
    from toolcrib.cli.client import Client
    from toolcrib.settings import Settings

secrets = group("secrets", "Values behind {{NAME}} in packages, and the keys that seal them.")
Name = Annotated[str, typer.Argument(help="A-Z first, then A-Z, digits and underscores.")]


@command(secrets, "list", "toolcrib secrets list")
async def list_secrets(client: Client, limit: Limit = 50, cursor: Cursor = None) -> Answer:
    """List names, hosts, status and which packages use them; values are never shown."""
    page = await client.get(SECRETS, limit=limit, cursor=cursor)
    columns = ("name", "status", "hosts", "used_by", "updated_at")
    return listed(page, *columns, empty="None is stored. See `toolcrib secrets set`.")


@command(secrets, "set", "toolcrib secrets set KB_API_KEY --host kb.example.com < token.txt")
async def set_secret(
    client: Client,
    name: Name,
    hosts: Annotated[
        list[str] | None,
        typer.Option("--host", help="A host it may be sent to; repeat it. None: any."),
    ] = None,
    value_file: Annotated[Path | None, typer.Option(help="The file that holds it.")] = None,
) -> Answer:
    """Store a value: asked for, or read from stdin or a file. It is not echoed."""
    body = {"value": secret(name, value_file), **given(hosts=hosts)}
    note = await client.store(secret_path(name), body)
    return said(f"{name} is stored. {note}".strip(), {"name": name, "note": note or None})


@command(secrets, "delete", "toolcrib secrets delete KB_API_KEY")
async def delete_secret(client: Client, name: Name) -> Answer:
    """Delete a value; packages that name it cannot be called until it is stored again."""
    await client.delete(secret_path(name))
    return said(f"{name} is deleted.", {"name": name, "deleted": True})


@local_command(secrets, "status", "toolcrib secrets status")
async def show_status(settings: Settings) -> Answer:
    """Show where the keys are, and whether every stored value can be unsealed with them."""
    from toolcrib.cli.here import opened  # noqa: PLC0415
    from toolcrib.cli.sealed import sealed_values  # noqa: PLC0415

    async with opened(settings) as platform:
        found = await sealed_values(platform.storage, platform.sealer)
        file = platform.key_file
        keys = file.keys() if file else settings.vault_keys.get_secret_value().split(",")
    return record(
        {
            "keys": str(file.path) if file else "TOOLCRIB_VAULT_KEYS",
            "count": len(keys),
            "settings": found.settings,
            "secrets": found.secrets,
            "undecryptable": list(found.lost),
        }
    )


@local_command(secrets, "new-key", "toolcrib secrets new-key", elsewhere=True)
async def make_key(settings: Settings) -> Answer:
    """Print a new key, to be put before the others in TOOLCRIB_VAULT_KEYS."""
    from toolcrib.secrets.sealing import new_key  # noqa: PLC0415

    key = new_key()
    return said(key, {"key": key})


@local_command(secrets, "rotate", "toolcrib secrets rotate")
async def rotate(settings: Settings) -> Answer:
    """Seal every setting and secret anew with the newest key.

    Where the keys are in the key file, a new one is made first. Where TOOLCRIB_VAULT_KEYS holds
    them, put a new one first, restart every server, then rotate."""
    from toolcrib.cli.here import opened  # noqa: PLC0415
    from toolcrib.cli.sealed import sealed_values  # noqa: PLC0415
    from toolcrib.desk.operator import operator  # noqa: PLC0415

    async with opened(settings) as platform:
        sealed = await platform.desk.settings.rotate(operator())
        left = len((await sealed_values(platform.storage, platform.sealer)).lost)
    text = f"{many(sealed, 'value')} sealed with the newest key."
    if left:
        text += f" {many(left, 'value')} could not be unsealed: see toolcrib secrets status."
    return said(text, {"sealed": sealed, "left": left})
