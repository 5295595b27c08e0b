"""This module holds the installation's named secrets, sealed: what `{{NAME}}` stands for."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Literal, Protocol

from toolcrib.errors import InvalidRequest, SecretMissing, SecretUndecryptable
from toolcrib.secrets.binding import BoundValue
from toolcrib.secrets.memory import Kept, Memory
from toolcrib.secrets.sealing import Sealer

SecretStatus = Literal["configured", "missing", "undecryptable"]
SECRET_NAME = re.compile(r"[A-Z][A-Z0-9_]{0,127}")


@dataclass(frozen=True, kw_only=True, slots=True)
class SealedSecret:
    """A secret's row; `sealed` is ciphertext. `hosts` limits where the value may be sent."""

    name: str
    sealed: bytes
    hosts: tuple[str, ...] = ()
    updated_at: datetime


@dataclass(frozen=True, kw_only=True, slots=True)
class SecretInfo:
    """What an admin may see of a secret: never the value."""

    name: str
    status: SecretStatus
    hosts: tuple[str, ...]
    updated_at: datetime


class SecretStore(Protocol):
    async def put(self, *, name: str, sealed: bytes, hosts: Sequence[str]) -> None: ...

    async def find(self, name: str) -> SealedSecret | None: ...

    async def list(self, *, after: str = "", limit: int = 200) -> Sequence[SealedSecret]: ...

    async def delete(self, name: str) -> bool: ...

    async def every(self) -> Sequence[SealedSecret]: ...

    async def replace_sealed(self, rows: Sequence[SealedSecret]) -> None:
        """New ciphertexts for rows that were not changed since they were read."""
        ...


class Vault:
    """Reads and writes secrets; the only place where they are unsealed.

    What was unsealed stays in `memory`; without one every `get` unseals anew.
    """

    def __init__(self, store: SecretStore, sealer: Sealer, memory: Memory | None = None) -> None:
        self._store = store
        self._sealer = sealer
        self._unsealed: Kept[BoundValue] = (memory or Memory()).shelf()

    async def put(self, name: str, value: str, *, hosts: Sequence[str] = ()) -> None:
        """Raises InvalidRequest for a name that no `{{NAME}}` could spell."""
        if not SECRET_NAME.fullmatch(name):
            raise InvalidRequest(
                f"{name!r} cannot be the name of a secret.",
                where="name",
                hint="Start with A-Z, then A-Z, 0-9 and underscores.",
            )
        await self._store.put(name=name, sealed=self._sealer.seal(value), hosts=tuple(hosts))
        self._unsealed.discard(name)

    async def get(self, name: str) -> BoundValue:
        """The value with the hosts it may go to. A blank one counts as missing.

        Raises SecretMissing or SecretUndecryptable, which name the secret.
        """
        known = self._unsealed.get(name)
        if known is not None:
            return known
        began = self._unsealed.now()
        row = await self._store.find(name)
        value = self._sealer.unseal(row.sealed, name=name) if row else ""
        if row is None or not value.strip():
            raise SecretMissing(
                f"The secret {name!r} has no value.", hint=f"Set it with PUT /admin/secrets/{name}."
            )
        found = BoundValue(value, row.hosts)
        self._unsealed.put(name, found, made_at=began)
        return found

    async def status(self, name: str) -> SecretStatus:
        try:
            await self.get(name)
        except SecretMissing:
            return "missing"
        except SecretUndecryptable:
            return "undecryptable"
        return "configured"

    async def list(self, *, after: str = "", limit: int = 200) -> Sequence[SecretInfo]:
        return [
            SecretInfo(
                name=row.name,
                status=await self.status(row.name),
                hosts=row.hosts,
                updated_at=row.updated_at,
            )
            for row in await self._store.list(after=after, limit=limit)
        ]

    async def delete(self, name: str) -> bool:
        gone = await self._store.delete(name)
        self._unsealed.discard(name)
        return gone

    async def rotate(self) -> int:
        """Seal every secret with the newest key; returns how many. Undecryptable ones stay."""
        rows: list[SealedSecret] = []
        for row in await self._store.every():
            try:
                value = self._sealer.unseal(row.sealed, name=row.name)
            except SecretUndecryptable:
                continue
            rows.append(replace(row, sealed=self._sealer.seal(value)))
        await self._store.replace_sealed(rows)
        return len(rows)
