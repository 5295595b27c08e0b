"""This module hands out tokens and takes them back."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from datetime import datetime

from toolcrib.coordination.signals import Signals
from toolcrib.desk.checking import checked_name
from toolcrib.desk.reach import within_reach
from toolcrib.errors import InvalidRequest, NotFound, NotGranted
from toolcrib.grants.agents import AgentStore
from toolcrib.grants.decide import decide, of_agent, of_user
from toolcrib.identity.accounts import Token, TokenStore, User, UserStore
from toolcrib.identity.authentication import caller_from
from toolcrib.identity.caller import Caller
from toolcrib.identity.tokens import NewToken, new_token


class Tokens:
    """A user's tokens are that user's business, and the super-admins'."""

    def __init__(
        self,
        *,
        tokens: TokenStore,
        users: UserStore,
        agents: AgentStore,
        signals: Signals,
        clock: Callable[[], datetime],
    ) -> None:
        self._tokens = tokens
        self._users = users
        self._agents = agents
        self._signals = signals
        self._clock = clock

    async def create(
        self,
        caller: Caller,
        *,
        user_id: int,
        name: str,
        expires_at: datetime | None = None,
        agent_id: int | None = None,
    ) -> tuple[Token, NewToken]:
        """The row, and the token whose text is shown this once.

        Raises NotFound, NotGranted, InvalidRequest for an agent that the user may not use and for
        an end that has passed.
        """
        user = await self._holder(caller, user_id)
        if expires_at is not None and expires_at <= self._clock():
            raise InvalidRequest(
                f"The token would have expired already, at {expires_at.isoformat()}.",
                where="expires_at",
                hint="Give a time to come, or leave it out for a token without an end.",
            )
        if agent_id is not None:
            await self._require_usable(user, agent_id)
        made = new_token()
        token = await self._tokens.create(
            token_id=made.id,
            digest=made.digest,
            user_id=user_id,
            name=checked_name(name),
            expires_at=expires_at,
            agent_id=agent_id,
        )
        await self._signals.bump("identity")
        return token, made

    async def list(self, caller: Caller, *, user_id: int) -> Sequence[Token]:
        """Oldest first, never the tokens themselves."""
        await self._holder(caller, user_id)
        return await self._tokens.list(user_id)

    async def revoke(self, caller: Caller, *, user_id: int, token_id: str) -> None:
        """Raises NotFound. Every process refuses the token from then on."""
        await self._holder(caller, user_id)
        deleted = await self._tokens.delete(token_id, user_id=user_id)
        # Also where it is gone already: whoever deleted it may not have come as far as this.
        await self._signals.bump("identity")
        if not deleted:
            raise NotFound(
                f"User {user_id} has no token {token_id!r}.",
                hint=f"GET /api/v1/users/{user_id}/tokens lists those that there are.",
            )

    async def _holder(self, caller: Caller, user_id: int) -> User:
        if caller.agent_id is not None:
            raise NotGranted(f"The token is bound to agent {caller.agent_id}.")
        user = await self._users.find(user_id)
        found = within_reach(user, caller, user and of_user(user), what=f"user {user_id}")
        if not (caller.is_super_admin or decide(caller, "use", of_user(found))):
            raise NotGranted("Only the user and a super-admin may handle the user's tokens.")
        return found

    async def _require_usable(self, user: User, agent_id: int) -> None:
        agent = await self._agents.find(agent_id)
        if agent is None or not decide(caller_from(user), "use", of_agent(agent)):
            raise InvalidRequest(
                f"There is no agent {agent_id} that user {user.id} may use.",
                where="agent_id",
                hint="A token is bound to an agent of the user's groups, or of the user's own.",
            )
