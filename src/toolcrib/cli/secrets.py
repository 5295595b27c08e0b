"""This module holds the commands for the vault's keys: status, a new key, sealing anew."""

from __future__ import annotations

from typing import TYPE_CHECKING

from toolcrib.cli.answers import Answer, record, said
from toolcrib.cli.command import group, local_command
from toolcrib.cli.words import many

if TYPE_CHECKING:
    from toolcrib.settings import Settings

secrets = group("secrets", "The keys that settings are sealed with.")


@local_command(secrets, "status", "toolcrib secrets status")
async def show_status(settings: Settings) -> Answer:
    """Show where the keys are, and whether every stored value can be unsealed with them."""
    from toolcrib.cli.here import opened  # noqa: PLC0415

    async with opened(settings) as platform:
        rows = await platform.storage.settings.every()
        owners = list(dict.fromkeys(row.owner for row in rows))
        infos = await platform.values.list(owners, limit=max(1, len(rows)))
        file = platform.key_file
        keys = file.keys() if file else settings.vault_keys.get_secret_value().split(",")
    broken = sorted({info.name for info in infos if info.status == "undecryptable"})
    data = {
        "keys": str(file.path) if file else "TOOLCRIB_VAULT_KEYS",
        "count": len(keys),
        "values": len(rows),
        "undecryptable": broken,
    }
    return record(data)


@local_command(secrets, "new-key", "toolcrib secrets new-key", elsewhere=True)
async def make_key(settings: Settings) -> Answer:
    """Print a new key, to be put before the others in TOOLCRIB_VAULT_KEYS."""
    from toolcrib.secrets.sealing import new_key  # noqa: PLC0415

    key = new_key()
    return said(key, {"key": key})


@local_command(secrets, "rotate", "toolcrib secrets rotate")
async def rotate(settings: Settings) -> Answer:
    """Seal every stored value anew with the newest key.

    Where the keys are in the key file, a new one is made first. Where TOOLCRIB_VAULT_KEYS holds
    them, put a new one first, restart every server, then rotate."""
    from toolcrib.cli.here import opened  # noqa: PLC0415
    from toolcrib.desk.operator import operator  # noqa: PLC0415

    async with opened(settings) as platform:
        sealed = await platform.desk.settings.rotate(operator())
        left = len(await platform.storage.settings.every()) - sealed
    text = f"{many(sealed, 'value')} sealed with the newest key."
    if left:
        text += f" {many(left, 'value')} could not be unsealed: see toolcrib secrets status."
    return said(text, {"sealed": sealed, "left": left})
