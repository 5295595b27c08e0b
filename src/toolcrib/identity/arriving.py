"""This module finds the user whom an issuer's token names, and makes them where that is allowed."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Collection
from dataclasses import replace
from datetime import datetime
from typing import Any, cast

from toolcrib.errors import Conflict, NotAuthenticated, NotGranted
from toolcrib.identity.accounts import GroupStore, User, UserStore
from toolcrib.identity.caller import Caller
from toolcrib.identity.issued import Claims, check, header_of, verified
from toolcrib.identity.issuers import SigningKeys, TrustedIssuer
from toolcrib.identity.roles import Role

_LONGEST_NAME = 255
_PAGE = 200
_REMEMBERED = 100_000


class Arrivals:
    """Callers with tokens of one issuer. `changed` is awaited after a user was made or changed."""

    def __init__(
        self,
        issuer: TrustedIssuer,
        keys: SigningKeys,
        *,
        users: UserStore,
        groups: GroupStore,
        changed: Callable[[], Awaitable[object]],
        clock: Callable[[], datetime],
    ) -> None:
        self._issuer = issuer
        self._keys = keys
        self._users = users
        self._groups = groups
        self._changed = changed
        self._clock = clock
        self._newest: dict[int, float] = {}

    async def caller_of(self, text: str, audiences: Collection[str]) -> tuple[Caller, datetime]:
        """The caller and when the token ends; `audiences` count beside the issuer's own.

        Raises NotAuthenticated for a token that is not good, NotGranted for a good one whose user
        may not come in, SetupError when the issuer's keys cannot be had.
        """
        issuer = self._issuer
        kid = (header_of(text) or {}).get("kid")
        claims = verified(text, await self._keys.keys(kid if isinstance(kid, str) else None))
        wanted = issuer.audiences | frozenset(audiences)
        ends = check(claims, issuer=issuer.url, audiences=wanted, now=self._clock())
        user = await self._user(claims)
        return (
            Caller(
                user_id=user.id,
                role=user.role,
                group_ids=user.group_ids,
                entitlements=user.entitlements,
            ),
            ends,
        )

    async def _user(self, claims: Claims) -> User:
        name = self._name(claims)
        group_ids = await self._group_ids(claims)
        user = await self._users.find_by_name(name)
        if user is None:
            return await self._made(name, group_ids)
        if user.name != name:
            raise NotGranted(f"There is no user {name!r}; one differs in upper and lower case.")
        if user.role is Role.SUPER_ADMIN and not self._issuer.super_admins:
            raise NotGranted(
                "A super-admin does not come in with a token of the issuer.",
                hint="The operator can allow it: TOOLCRIB_OIDC_SUPER_ADMINS=true.",
            )
        if group_ids is None or self._is_outdated(user, claims) or user.group_ids == group_ids:
            return user
        return await self._moved(user, group_ids)

    def _is_outdated(self, user: User, claims: Claims) -> bool:
        """Whether a newer token of the user was here: an old one must not bring groups back."""
        made = claims.get("iat")
        made = float(made) if isinstance(made, int | float) else 0.0
        newest = self._newest.get(user.id, made)
        if len(self._newest) >= _REMEMBERED:
            self._newest.clear()
        self._newest[user.id] = max(newest, made)
        return made < newest

    async def _made(self, name: str, group_ids: frozenset[int] | None) -> User:
        if not self._issuer.provision:
            raise NotGranted(
                f"The token is good, and its user {name!r} does not exist here.",
                hint="An admin makes the user, or the operator sets TOOLCRIB_OIDC_PROVISION=true.",
            )
        try:
            user = await self._users.create(
                name=name,
                role=Role.USER,
                group_ids=group_ids or frozenset(),
                entitlements=frozenset(),
            )
        except Conflict:  # the same user came twice at once
            found = await self._users.find_by_name(name)
            if found is None or found.name != name:
                raise
            return found
        await self._changed()
        return user

    async def _moved(self, user: User, group_ids: frozenset[int]) -> User:
        """The issuer decides on groups: this token's are the user's from now on."""
        try:
            moved = await self._users.update(
                user.id, expected_version=user.version, group_ids=group_ids
            )
        except Conflict:  # another token of the user was a moment earlier
            return replace(user, group_ids=group_ids)
        await self._changed()
        return moved

    def _name(self, claims: Claims) -> str:
        claim = self._issuer.user_claim
        name = claims.get(claim)
        if not isinstance(name, str) or not name.strip() or len(name) > _LONGEST_NAME:
            raise NotAuthenticated(f"The token is not valid: it has no {claim!r} that is a name.")
        if claim == "email" and claims.get("email_verified") is not True:
            raise NotAuthenticated(
                "The token is not valid: the issuer does not say that the address is verified."
            )
        if not name.isprintable():
            raise NotAuthenticated(f"The token is not valid: its {claim!r} cannot be a name.")
        return name

    async def _group_ids(self, claims: Claims) -> frozenset[int] | None:
        """Ids of the groups that the token names and that exist here; None: they are kept here."""
        claim = self._issuer.groups_claim
        if not claim:
            return None
        wanted = _texts(claims.get(claim))
        found: set[int] = set()
        after = 0
        while wanted and (rows := await self._groups.list(after=after, limit=_PAGE)):
            found |= {row.id for row in rows if row.name in wanted}
            after = rows[-1].id
        return frozenset(found)


def _texts(value: Any) -> frozenset[str]:
    if isinstance(value, str):
        return frozenset({value})
    if isinstance(value, list):
        return frozenset(one for one in cast("list[object]", value) if isinstance(one, str))
    return frozenset()
