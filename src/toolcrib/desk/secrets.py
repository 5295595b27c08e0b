"""This module keeps the installation's secrets: values go in, names and status come out."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from toolcrib.catalog.packages import PackageStore
from toolcrib.coordination.signals import Signals
from toolcrib.desk.checking import checked_hosts, notes_on
from toolcrib.desk.reach import require_installation
from toolcrib.errors import NotFound
from toolcrib.identity.caller import Caller
from toolcrib.secrets.vault import SecretInfo, Vault

_WHAT = "the installation's secrets"


@dataclass(frozen=True, kw_only=True, slots=True)
class ListedSecret:
    """A secret and the packages whose config names it."""

    info: SecretInfo
    used_by: Sequence[str]


class StoredSecrets:
    """Secrets by name. Admins see names and status, super-admins change them."""

    def __init__(self, *, vault: Vault, packages: PackageStore, signals: Signals) -> None:
        self._vault = vault
        self._packages = packages
        self._signals = signals

    async def put(
        self, caller: Caller, name: str, value: str, *, hosts: Sequence[str] = ()
    ) -> tuple[str, ...]:
        """Store a value; returns what the caller should know about it."""
        require_installation(caller, "change", what=_WHAT)
        notes = notes_on(name, value)
        await self._vault.put(name, value, hosts=checked_hosts(hosts))
        await self._signals.bump("settings")
        return notes

    async def list(
        self, caller: Caller, *, after: str = "", limit: int = 50
    ) -> Sequence[ListedSecret]:
        """By name."""
        require_installation(caller, "see", what=_WHAT)
        return [
            ListedSecret(info=info, used_by=await self._packages.using(info.name))
            for info in await self._vault.list(after=after, limit=limit)
        ]

    async def delete(self, caller: Caller, name: str) -> None:
        require_installation(caller, "change", what=_WHAT)
        if not await self._vault.delete(name):
            raise NotFound.of(f"secret {name!r}")
        await self._signals.bump("settings")
