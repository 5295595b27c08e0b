"""This module holds named settings of users and groups, sealed at rest, the user's value first."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Literal, Protocol

from toolcrib.errors import InvalidRequest, SecretMissing, SecretUndecryptable
from toolcrib.secrets.binding import BoundValue
from toolcrib.secrets.sealing import Sealer

SettingStatus = Literal["configured", "undecryptable"]
_NAME = re.compile(r"[A-Za-z0-9_]{1,128}", re.ASCII)


@dataclass(frozen=True, kw_only=True, slots=True)
class SettingOwner:
    """Exactly one of the two is set."""

    user_id: int | None = None
    group_id: int | None = None

    def __post_init__(self) -> None:
        if (self.user_id is None) == (self.group_id is None):
            raise InvalidRequest("A setting belongs to a user or to a group: name one of them.")


@dataclass(frozen=True, kw_only=True, slots=True)
class SealedSetting:
    """A setting's row; `sealed` is ciphertext. `hosts` limits where the value may be sent."""

    name: str
    owner: SettingOwner
    sealed: bytes
    hosts: tuple[str, ...] = ()
    updated_at: datetime


@dataclass(frozen=True, kw_only=True, slots=True)
class SettingInfo:
    """What anybody may see of a setting: never the value."""

    name: str
    owner: SettingOwner
    status: SettingStatus
    hosts: tuple[str, ...]
    updated_at: datetime

    @property
    def place(self) -> str:
        """Where it stands in a list: the `after` of the next page, also within one name."""
        kind, owner = ("group", self.owner.group_id)
        if self.owner.user_id is not None:
            kind, owner = ("user", self.owner.user_id)
        return f"{self.name}:{kind}:{owner}"


class SettingStore(Protocol):
    async def put(
        self, *, name: str, owner: SettingOwner, sealed: bytes, hosts: Sequence[str]
    ) -> None: ...

    async def find(self, name: str, owner: SettingOwner) -> SealedSetting | None: ...

    async def list(
        self, owners: Sequence[SettingOwner], *, after: str = "", limit: int = 200
    ) -> Sequence[SealedSetting]:
        """Settings of any of the owners, ordered by (name, user before group, owner id).

        `after` is a name, or a SettingInfo's `place`.
        """
        ...

    async def names(self, owners: Sequence[SettingOwner]) -> frozenset[str]:
        """Names that any of the owners has, blank values included."""
        ...

    async def delete(self, name: str, owner: SettingOwner) -> bool: ...

    async def every(self) -> Sequence[SealedSetting]:
        """All of them, for rotation and for the check of keys at start."""
        ...

    async def replace_sealed(self, rows: Sequence[SealedSetting]) -> None:
        """Write new ciphertexts for existing rows, all or none."""
        ...


class SettingValues:
    """Reads and writes setting values; the only place where they are unsealed."""

    def __init__(self, store: SettingStore, sealer: Sealer) -> None:
        self._store = store
        self._sealer = sealer

    async def put(
        self, name: str, value: str, owner: SettingOwner, *, hosts: Sequence[str] = ()
    ) -> None:
        """Raises InvalidRequest for a name that no placeholder could spell."""
        require_name(name)
        await self._store.put(
            name=name, owner=owner, sealed=self._sealer.seal(value), hosts=tuple(hosts)
        )

    async def find(self, name: str, *, user_id: int | None, group_id: int | None) -> str | None:
        """The user's value, else the group's; None when neither has one that is not blank.

        One that is limited to hosts is a BoundValue: whoever sends it obeys the limit.
        Raises SecretUndecryptable naming the setting when the value's key is not here.
        """
        for owner in owners_of(user_id, group_id):
            row = await self._store.find(name, owner)
            value = self._open(row) if row else ""
            if row and value.strip():
                return BoundValue(value, row.hosts) if row.hosts else value
        return None

    async def get(self, name: str, *, user_id: int | None, group_id: int | None) -> str:
        value = await self.find(name, user_id=user_id, group_id=group_id)
        if value is None:
            raise SecretMissing(
                f"The setting {name!r} has no value for this user or group.",
                hint=f"Set it with PUT /api/v1/settings/{name}.",
            )
        return value

    async def available(
        self, *, user_id: int | None, group_id: int | None
    ) -> Mapping[str, SettingStatus]:
        """Names with a usable value for this user and group: "is there one?", never "what is it?".

        A blank value counts as missing; one that cannot be unsealed is `undecryptable`.
        """
        found: dict[str, SettingStatus] = {}
        owners = owners_of(user_id, group_id)
        rows = await self._store.list(owners, limit=100_000) if owners else ()
        for row in sorted(rows, key=lambda r: r.owner.user_id is None):
            if row.name in found:
                continue
            try:
                if self._open(row).strip():
                    found[row.name] = "configured"
            except SecretUndecryptable:
                found[row.name] = "undecryptable"
        return found

    async def list(
        self, owners: Sequence[SettingOwner], *, after: str = "", limit: int = 200
    ) -> Sequence[SettingInfo]:
        rows = await self._store.list(owners, after=after, limit=limit)
        return [self._info(row) for row in rows]

    async def delete(self, name: str, owner: SettingOwner) -> bool:
        return await self._store.delete(name, owner)

    async def rotate(self) -> int:
        """Seal every value with the newest key; returns how many. Undecryptable ones stay."""
        rows: list[SealedSetting] = []
        for row in await self._store.every():
            try:
                sealed = self._sealer.seal(self._open(row))
            except SecretUndecryptable:
                continue
            rows.append(
                SealedSetting(
                    name=row.name,
                    owner=row.owner,
                    sealed=sealed,
                    hosts=row.hosts,
                    updated_at=row.updated_at,
                )
            )
        await self._store.replace_sealed(rows)
        return len(rows)

    def _open(self, row: SealedSetting) -> str:
        return self._sealer.unseal(row.sealed, name=row.name)

    def _info(self, row: SealedSetting) -> SettingInfo:
        status: SettingStatus = "configured"
        try:
            self._open(row)
        except SecretUndecryptable:
            status = "undecryptable"
        return SettingInfo(
            name=row.name,
            owner=row.owner,
            status=status,
            hosts=row.hosts,
            updated_at=row.updated_at,
        )


def owners_of(user_id: int | None, group_id: int | None) -> list[SettingOwner]:
    """The owners to ask, in order of precedence."""
    owners = [SettingOwner(user_id=user_id)] if user_id is not None else []
    return owners + ([SettingOwner(group_id=group_id)] if group_id is not None else [])


def require_name(name: str) -> None:
    if not _NAME.fullmatch(name):
        raise InvalidRequest(
            f"{name!r} cannot be the name of a setting.",
            where="name",
            hint="Use letters, digits and underscores, at most 128.",
        )
