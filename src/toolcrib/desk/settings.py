"""This module keeps named settings of users and groups: their values go in and never come out."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence

from toolcrib.coordination.signals import Signals
from toolcrib.desk.checking import checked_hosts, notes_on
from toolcrib.desk.reach import require
from toolcrib.errors import InvalidRequest, NotFound, NotGranted
from toolcrib.grants.decide import INSTALLATION, decide, of_group, of_setting
from toolcrib.identity.accounts import GroupStore
from toolcrib.identity.caller import Caller
from toolcrib.secrets.settings import SettingInfo, SettingOwner, SettingValues, require_name
from toolcrib.secrets.vault import Vault

_PAGE = 200


class StoredSettings:
    """Settings by name and owner. Without an owner named, they are the caller's own."""

    def __init__(
        self,
        *,
        values: SettingValues,
        vault: Vault,
        groups: GroupStore,
        signals: Signals,
        add_key: Callable[[], None] | None = None,
        rotate_logins: Callable[[], Awaitable[int]] | None = None,
    ) -> None:
        """`add_key` makes a new vault key; None where the operator brings the keys."""
        self._rotate_logins = rotate_logins
        self._values = values
        self._vault = vault
        self._groups = groups
        self._signals = signals
        self._add_key = add_key

    async def put(
        self,
        caller: Caller,
        name: str,
        value: str,
        *,
        user_id: int | None = None,
        group_id: int | None = None,
        hosts: Sequence[str] = (),
    ) -> tuple[str, ...]:
        """Store a value; returns what the caller should know about it.

        Raises InvalidRequest, NotGranted, NotFound for an owner that is not there.
        """
        require_name(name)
        owner = _owner(caller, user_id, group_id)
        require(caller, "change", of_setting(owner), what=_words(owner))
        notes = notes_on(name, value)
        await self._values.put(name, value, owner, hosts=checked_hosts(hosts))
        await self._signals.bump("settings")
        return notes

    async def list(
        self,
        caller: Caller,
        *,
        after: str = "",
        limit: int = 50,
        user_id: int | None = None,
        group_id: int | None = None,
    ) -> Sequence[SettingInfo]:
        """The caller's own and their groups', or those of one owner.

        `after` is the `place` of the last one seen.
        """
        if user_id is None and group_id is None:
            owners = await self._owners(caller)
        else:
            owners = [_owner(caller, user_id, group_id)]
            require(caller, "see", of_setting(owners[0]), what=_words(owners[0]))
        seen = [owner for owner in owners if decide(caller, "see", of_setting(owner))]
        return await self._values.list(seen, after=after, limit=limit) if seen else []

    async def delete(
        self,
        caller: Caller,
        name: str,
        *,
        user_id: int | None = None,
        group_id: int | None = None,
    ) -> None:
        owner = _owner(caller, user_id, group_id)
        require(caller, "change", of_setting(owner), what=_words(owner))
        if not await self._values.delete(name, owner):
            raise NotFound(
                f"There is no setting {name!r} of {_words(owner)}.",
                hint="GET /api/v1/settings lists those that are set.",
            )
        await self._signals.bump("settings")

    async def rotate(self, caller: Caller) -> int:
        """Seal every setting, secret and login with the newest key; returns how many.

        Where the key file is ours a new key is made first.
        """
        if not decide(caller, "change", INSTALLATION):
            raise NotGranted("Only a super-admin rotates the keys.")
        if self._add_key is not None:
            self._add_key()
        count = await self._values.rotate() + await self._vault.rotate()
        if self._rotate_logins is not None:
            count += await self._rotate_logins()
        await self._signals.bump("settings")
        return count

    async def _owners(self, caller: Caller) -> list[SettingOwner]:
        owners = [SettingOwner(user_id=caller.user_id)]
        if not caller.is_super_admin:
            return owners + [SettingOwner(group_id=group) for group in sorted(caller.group_ids)]
        after = 0
        while rows := await self._groups.list(after=after, limit=_PAGE):
            seen = [row for row in rows if decide(caller, "see", of_group(row))]
            owners += [SettingOwner(group_id=row.id) for row in seen]
            after = rows[-1].id
        return owners


def _owner(caller: Caller, user_id: int | None, group_id: int | None) -> SettingOwner:
    if user_id is not None and group_id is not None:
        raise InvalidRequest(
            "A setting belongs to a user or to a group, not to both.", where="group_id"
        )
    if user_id is None and group_id is None:
        user_id = caller.user_id
    return SettingOwner(user_id=user_id, group_id=group_id)


def _words(owner: SettingOwner) -> str:
    whose = "user" if owner.user_id is not None else "group"
    return f"{whose} {owner.user_id if owner.user_id is not None else owner.group_id}"
