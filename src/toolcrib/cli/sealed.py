"""This module counts what is stored sealed and finds what no key opens."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from toolcrib.errors import SecretUndecryptable

if TYPE_CHECKING:
    from toolcrib.secrets.sealing import Sealer
    from toolcrib.storage import Storage


@dataclass(frozen=True, kw_only=True, slots=True)
class SealedValues:
    """How many there are of each. `lost` names those that cannot be unsealed, in words."""

    settings: int
    secrets: int
    logins: int
    lost: tuple[str, ...]


async def sealed_values(storage: Storage, sealer: Sealer) -> SealedValues:
    """Look at every value that the installation keeps."""
    settings = await storage.settings.every()
    secrets = await storage.secrets.every()
    lost = [
        f"setting {row.name} of {'group' if row.owner.user_id is None else 'user'} "
        f"{row.owner.group_id if row.owner.user_id is None else row.owner.user_id}"
        for row in settings
        if not _opens(sealer, row.sealed)
    ]
    lost += [f"secret {row.name}" for row in secrets if not _opens(sealer, row.sealed)]
    logins = await storage.logins.sealed()
    lost += [place for place, data in logins if not _opens(sealer, data)]
    return SealedValues(
        settings=len(settings), secrets=len(secrets), logins=len(logins), lost=tuple(lost)
    )


def _opens(sealer: Sealer, sealed: bytes) -> bool:
    try:
        sealer.unseal(sealed, name="")
    except SecretUndecryptable:
        return False
    return True
