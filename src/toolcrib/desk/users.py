"""This module keeps users: made and changed by super-admins, seen by the admins of their groups."""

from __future__ import annotations

import asyncio
from collections.abc import Generator, Iterable, Sequence
from contextlib import contextmanager
from dataclasses import replace

from toolcrib.coordination.signals import Signals
from toolcrib.desk.checking import checked_entitlements, checked_name, checked_password
from toolcrib.desk.reach import require, require_making, within_reach
from toolcrib.errors import Conflict, InvalidRequest, NotFound, NotGranted
from toolcrib.grants.decide import Holding, decide, of_user
from toolcrib.identity.accounts import User, UserStore
from toolcrib.identity.caller import Caller
from toolcrib.identity.roles import Role
from toolcrib.identity.tokens import hash_password

_PAGE = 200


class Users:
    """The users that a caller may know of."""

    def __init__(self, *, users: UserStore, signals: Signals) -> None:
        self._users = users
        self._signals = signals

    async def create(
        self,
        caller: Caller,
        *,
        name: str,
        role: Role,
        group_ids: Iterable[int] = (),
        entitlements: Iterable[str] = (),
        password: str | None = None,
    ) -> User:
        """Raises NotGranted, Conflict for a taken name, InvalidRequest for an unknown group."""
        require_making(caller, Holding(kind="user"), what="a user")
        with _named_groups():
            user = await self._users.create(
                name=checked_name(name),
                role=role,
                group_ids=frozenset(group_ids),
                entitlements=checked_entitlements(entitlements),
                password_hash=None if password is None else await _hashed(password),
            )
        await self._signals.bump("identity")
        return user

    async def get(self, caller: Caller, user_id: int) -> User:
        user = await self._users.find(user_id)
        found = within_reach(user, caller, user and of_user(user), what=f"user {user_id}")
        return _as_seen(found, caller)

    async def list(self, caller: Caller, *, after: int = 0, limit: int = 50) -> Sequence[User]:
        groups, ids = _whom(caller)
        rows = await self._users.list(group_ids=groups, ids=ids, after=after, limit=limit)
        return [_as_seen(row, caller) for row in rows if decide(caller, "see", of_user(row))]

    async def update(
        self,
        caller: Caller,
        user_id: int,
        *,
        role: Role | None = None,
        group_ids: Iterable[int] | None = None,
        entitlements: Iterable[str] | None = None,
        expected_version: int | None = None,
    ) -> User:
        """Raises NotFound, NotGranted, InvalidRequest for an unknown group, or Conflict: another
        version, or the last super-admin."""
        before = await self.get(caller, user_id)
        require(caller, "change", of_user(before), what=f"user {user_id}")
        demoted = before.role is Role.SUPER_ADMIN and role not in {None, Role.SUPER_ADMIN}
        if demoted and not await self._other_super_admin(user_id):
            raise _last()
        with _named_groups():
            user = await self._users.update(
                user_id,
                expected_version=expected_version,
                role=role,
                group_ids=None if group_ids is None else frozenset(group_ids),
                entitlements=None if entitlements is None else checked_entitlements(entitlements),
            )
        if demoted and not await self._other_super_admin(user_id):
            # Two super-admins demoted each other at the same moment: both changes are taken back.
            await self._users.update(
                user_id,
                role=Role.SUPER_ADMIN,
                group_ids=frozenset(before.group_ids),
                entitlements=before.entitlements,
            )
            await self._signals.bump("identity")
            raise _last()
        await self._signals.bump("identity")
        return user

    async def set_password(self, caller: Caller, user_id: int, password: str) -> None:
        """A super-admin sets anybody's, others their own."""
        user = await self.get(caller, user_id)
        if not (decide(caller, "change", of_user(user)) or _is_self(caller, user)):
            raise NotGranted("Only the user and a super-admin may set the password.")
        await self._users.set_password(user_id, await _hashed(password))
        await self._signals.bump("identity")

    async def _other_super_admin(self, user_id: int) -> bool:
        after = 0
        while rows := await self._users.list(after=after, limit=_PAGE):
            if any(row.role is Role.SUPER_ADMIN and row.id != user_id for row in rows):
                return True
            after = rows[-1].id
        return False


@contextmanager
def _named_groups() -> Generator[None]:
    """A group that the request names and nobody made is a mistake in the request."""
    try:
        yield
    except NotFound as missing:
        raise InvalidRequest(
            missing.message, where=missing.where or "group_ids", hint=missing.hint
        ) from None


def _whom(caller: Caller) -> tuple[frozenset[int] | None, frozenset[int] | None]:
    """The groups whose members a list holds, and the users besides; both None: everybody.

    What `decide` would leave out is not asked for: a page would be short without being the last.
    """
    if caller.agent_id is not None or caller.role is Role.USER:
        return None, frozenset({caller.user_id})
    if caller.is_super_admin:
        return None, None
    return caller.group_ids, frozenset({caller.user_id})


def _as_seen(user: User, caller: Caller) -> User:
    """An admin sees of a user's groups only their own: the others are another tenant's."""
    if caller.is_super_admin or caller.user_id == user.id:
        return user
    return replace(user, group_ids=user.group_ids & caller.group_ids)


def _is_self(caller: Caller, user: User) -> bool:
    return caller.agent_id is None and bool(decide(caller, "use", of_user(user)))


async def _hashed(password: str) -> str:
    return await asyncio.to_thread(hash_password, checked_password(password))


def _last() -> Conflict:
    return Conflict(
        "This is the last super-admin.",
        where="role",
        hint="Make another user a super-admin first.",
    )
