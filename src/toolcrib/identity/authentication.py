"""This module turns a token into a Caller, and a Caller into the one they may act for."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from datetime import UTC, datetime, timedelta

from toolcrib.errors import NotAuthenticated, NotFound, NotGranted
from toolcrib.identity.accounts import GroupStore, TokenStore, User, UserStore
from toolcrib.identity.arriving import Arrivals
from toolcrib.identity.caller import Caller
from toolcrib.identity.issued import looks_issued
from toolcrib.identity.tokens import digest

Clock = Callable[[], datetime]
_CACHED = 10_000
_BELIEVED = timedelta(seconds=60)
"""How long an issuer's token is believed before its signature is looked at again."""


class Authenticator:
    """Who a token belongs to. Answers are remembered until the identity's generation rises."""

    def __init__(
        self,
        *,
        users: UserStore,
        groups: GroupStore,
        tokens: TokenStore,
        generation: Callable[[], int],
        clock: Clock,
        arrivals: Arrivals | None = None,
    ) -> None:
        """`arrivals` takes the tokens of an issuer that the operator trusts."""
        self._arrivals = arrivals
        self._users = users
        self._groups = groups
        self._tokens = tokens
        self._generation = generation
        self._clock = clock
        self._known: dict[str, tuple[int, Caller, datetime | None]] = {}

    async def caller_of(self, token: str | None, audiences: Sequence[str] = ()) -> Caller:
        """Whose token it is. `audiences` are what an issuer's token may be for, beside the server.

        Raises NotAuthenticated; of our own tokens with one sentence for every cause, so nothing
        can be probed. For an issuer's token also NotGranted, SetupError.
        """
        if not token:
            raise NotAuthenticated(hint="Send `Authorization: Bearer TOKEN`.")
        issued = self._arrivals is not None and looks_issued(token)
        key = digest("\n".join([token, *audiences]) if issued else token)
        generation = self._generation()
        known = self._known.get(key)
        if known is None or known[0] != generation or (issued and self._is_old(known[2])):
            known = (generation, *await self._read(token, key, audiences if issued else None))
            self._remember(key, known)
        if known[2] is not None and known[2] <= self._clock():
            raise NotAuthenticated("The token is not valid.")
        return known[1]

    async def caller_for(self, user_id: int) -> Caller:
        """The caller that a user's id stands for, in code that is trusted. Raises NotFound."""
        user = await self._users.find(user_id)
        if user is None:
            raise NotFound.of(f"user {user_id}")
        return caller_from(user)

    async def acting(self, caller: Caller, *, user_id: int | None, group_id: int | None) -> Caller:
        """Apply `X-Toolcrib-User` and `X-Toolcrib-Group`.

        Raises NotGranted for a value that is not the caller's to name, NotFound (to a
        super-admin) for a user or group that does not exist.
        """
        acting = caller
        if user_id is not None and user_id != caller.user_id:
            if not caller.is_super_admin or caller.agent_id is not None:
                raise NotGranted(
                    "X-Toolcrib-User names somebody else.",
                    where="X-Toolcrib-User",
                    hint="Only a super-admin acts for others.",
                )
            acting = replace(await self.caller_for(user_id), overseen=True)
        if group_id is None:
            return acting
        await self._require_group(acting, group_id)
        return replace(acting, group_id=group_id)

    async def _require_group(self, acting: Caller, group_id: int) -> None:
        if group_id in acting.group_ids:
            return
        if acting.is_super_admin:
            if await self._groups.find(group_id) is None:
                raise NotFound.of(f"group {group_id}")
            return
        raise NotGranted(
            "X-Toolcrib-Group names a group that the user does not belong to.",
            where="X-Toolcrib-Group",
        )

    def _is_old(self, ends: datetime | None) -> bool:
        return ends is not None and ends <= self._clock()

    async def _read(
        self, token: str, key: str, audiences: Sequence[str] | None
    ) -> tuple[Caller, datetime | None]:
        if audiences is None or self._arrivals is None:
            return await self._looked_up(key)
        caller, ends = await self._arrivals.caller_of(token, audiences)
        return caller, min(ends, self._clock() + _BELIEVED)

    async def _looked_up(self, key: str) -> tuple[Caller, datetime | None]:
        token = await self._tokens.find_by_digest(key)
        user = await self._users.find(token.user_id) if token else None
        if token is None or user is None:
            raise NotAuthenticated("The token is not valid.")
        caller = replace(caller_from(user), agent_id=token.agent_id, token_id=token.id)
        return caller, token.expires_at

    def _remember(self, key: str, known: tuple[int, Caller, datetime | None]) -> None:
        if len(self._known) >= _CACHED:
            self._known.clear()
        self._known[key] = known


def caller_from(user: User) -> Caller:
    return Caller(
        user_id=user.id,
        role=user.role,
        group_ids=user.group_ids,
        entitlements=user.entitlements,
    )


def now() -> datetime:
    return datetime.now(UTC)
