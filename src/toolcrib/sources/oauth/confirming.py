"""This module keeps what a login brought until whoever began it says that it was they.

Whoever opens an address may be somebody else than who asked for it: then they would give their
account away. So the browser that comes back is shown a code, and the login is made when its
beginner, with a token of their own, says the code. What is not confirmed is revoked.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from datetime import datetime, timedelta

import structlog

from toolcrib.errors import Conflict, InvalidRequest, NotFound, ToolcribError
from toolcrib.net.client import GuardedClient
from toolcrib.secrets.attempts import Attempt, AttemptStore
from toolcrib.secrets.logins import LoginDraft
from toolcrib.secrets.sealing import Sealer
from toolcrib.sources.oauth.attempting import Held, held_of
from toolcrib.sources.oauth.codes import code_digest, new_code, same
from toolcrib.sources.oauth.ending import revoked
from toolcrib.sources.oauth.keeping import Clock
from toolcrib.sources.oauth.wanted import Wanted, mismatch

WAITS = timedelta(minutes=5)
"""How long a login waits for its beginner's word."""
TRIES = 5
_AGAIN = "Begin the login again."
_log = structlog.get_logger(__name__)


class Confirming:
    """Holds logins back, makes them and ends them. `changed` is awaited after one was made."""

    def __init__(
        self,
        *,
        attempts: AttemptStore,
        sealer: Sealer,
        sender: GuardedClient,
        clock: Clock,
        changed: Callable[[], Awaitable[object]],
    ) -> None:
        self._attempts = attempts
        self._sealer = sealer
        self._sender = sender
        self._clock = clock
        self._changed = changed

    async def hold(self, attempt: Attempt, draft: LoginDraft) -> tuple[str, datetime]:
        """Keep it; `(the code, until when)`. Raises InvalidRequest when it was begun anew since."""
        code, until = new_code(), self._clock() + WAITS
        held = Held(code=code_digest(code, salt=attempt.digest), draft=draft)
        sealed = self._sealer.seal(held.as_text())
        if not await self._attempts.answer(attempt.digest, sealed=sealed, until=until):
            await self._revoke(attempt.ref, draft)
            raise InvalidRequest("This login was begun again since.", hint=_AGAIN)
        return code, until

    async def confirm(self, wanted: Wanted, code: str, *, user_id: int) -> None:
        """Make the login that this user began. Raises NotFound where there is nothing to confirm,
        Conflict while the browser is not back, InvalidRequest for a wrong code or another server.
        """
        attempt = await self._attempts.try_once(user_id, wanted.ref, wanted.owner, most=TRIES)
        if attempt is None:
            raise await self._nothing(wanted, user_id)
        held = self._held(attempt)
        if not same(code_digest(code, salt=attempt.digest), held.code):
            raise await self._wrong(attempt)
        unfit = mismatch(held.draft, wanted)
        if unfit is not None:
            await self.forget(attempt)
            raise InvalidRequest(f"This is no login for the server: {unfit}.", hint=_AGAIN)
        if await self._attempts.admit(attempt.digest, held.draft) is None:
            raise await self._nothing(wanted, user_id)
        await self._changed()

    async def forget(self, attempt: Attempt) -> None:
        """End an attempt, at its server too. Whoever comes second finds nothing to do."""
        ended = await self._attempts.drop(attempt.digest)
        if ended is not None:
            await self.ended(ended)

    async def ended(self, attempt: Attempt) -> None:
        """Tell the server of an attempt that is gone already."""
        if attempt.stage != "answered":
            return
        try:
            draft = self._held(attempt).draft
        except ToolcribError as error:
            _log.warning("a login was not revoked", ref=attempt.ref, error=str(error))
            return
        await self._revoke(attempt.ref, draft)

    async def sweep(self) -> None:
        """End the attempts whose time is over."""
        for attempt in await self._attempts.sweep():
            await self.ended(attempt)

    def _held(self, attempt: Attempt) -> Held:
        return held_of(self._sealer.unseal(attempt.sealed, name="the login that was begun"))

    async def _wrong(self, attempt: Attempt) -> InvalidRequest:
        left = TRIES - attempt.tries
        if left > 0:
            tries = "one try is" if left == 1 else f"{left} tries are"
            return InvalidRequest(
                f"This is not the code that the browser shows; {tries} left.", where="code"
            )
        await self.forget(attempt)
        return InvalidRequest(
            "The code was wrong too often: the login is given up.", where="code", hint=_AGAIN
        )

    async def _nothing(self, wanted: Wanted, user_id: int) -> ToolcribError:
        attempt = await self._attempts.of(user_id, wanted.ref, wanted.owner)
        if attempt is not None and attempt.stage != "answered":
            return Conflict(
                "The browser has not come back from this login yet.",
                hint="Open its address and log in: the page at the end shows the code.",
            )
        minutes = int(WAITS.total_seconds() // 60)
        return NotFound(
            f"You have no login at {wanted.ref!r} to confirm: none was begun, it was denied or "
            f"finished, or its code is over {minutes} minutes old.",
            hint=_AGAIN,
        )

    async def _revoke(self, ref: str, draft: LoginDraft) -> None:
        await revoked(ref, draft.sealed, sealer=self._sealer, sender=self._sender)
