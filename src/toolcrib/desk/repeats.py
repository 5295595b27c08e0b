"""This module runs a request that has a key once: its repeats get the answer that it got.

A key is a caller's, for one tool, and is kept for a day. The answer is sealed, and so is what was
asked: both may hold what is nobody else's business.
"""

from __future__ import annotations

import hashlib
import secrets
from collections.abc import Awaitable, Callable
from datetime import datetime, timedelta

import structlog

from toolcrib.errors import (
    Conflict,
    InvalidRequest,
    OutcomeUnknown,
    SecretUndecryptable,
    ToolcribError,
)
from toolcrib.identity.caller import Caller
from toolcrib.invocation.repeats import Kept, RepeatStore
from toolcrib.secrets.sealing import Sealer
from toolcrib.tools.canonical import canonical_json, digest

_log = structlog.get_logger(__name__)
HEADER = "Idempotency-Key"
MOST_OF_ONE = 10_000
"""Keys that are kept of one user."""
_KEPT = timedelta(hours=24)
_MORE = timedelta(seconds=60)
"""How much longer than its deadline a call may be at work."""
_SWEPT = timedelta(minutes=10)
_LOOK = "GET /api/v1/calls shows the calls that began."


class Repeats:
    """Keys of requests. `longest` is a call's deadline in seconds."""

    def __init__(
        self,
        *,
        store: RepeatStore,
        sealer: Sealer,
        clock: Callable[[], datetime],
        longest: float,
    ) -> None:
        self._store = store
        self._sealer = sealer
        self._clock = clock
        self._longest = timedelta(seconds=longest) + _MORE
        self._sweeps_at = clock()

    async def once(
        self,
        caller: Caller,
        place: str,
        key: str,
        asked: object,
        work: Callable[[], Awaitable[str]],
    ) -> tuple[str, bool]:
        """What `work` answers, and whether it is a repeat: then `work` was not called.

        `asked` is the request's JSON. Raises InvalidRequest for a key that another request had,
        Conflict while the first one runs, OutcomeUnknown where it ended without an answer. What
        `work` raises is its own, and the key is free again: nothing was run.
        """
        now = self._clock()
        await self._sweep(now)
        name = hashlib.sha256(canonical_json([caller.user_id, place, key])).hexdigest()
        request, holder = digest([caller.group_id, asked]), secrets.token_hex(16)
        kept = await self._store.begin(
            name,
            user_id=caller.user_id,
            holder=holder,
            sealed=self._sealer.seal(f"{request}\n"),
            leased_until=now + self._longest,
            expires_at=now + _KEPT,
        )
        if kept is not None:
            return self._repeated(kept, request, now), True
        if await self._store.count(caller.user_id) > MOST_OF_ONE:
            await self._store.forget(name, holder=holder)
            raise Conflict(
                f"There are {MOST_OF_ONE:,} keys of yours already, and each is kept for a day.",
                where=HEADER,
                hint="Send the header only with calls that must not happen twice.",
            )
        try:
            answer = await work()
        except ToolcribError:
            await self._store.forget(name, holder=holder)
            raise
        await self._keep(name, holder, f"{request}\n{answer}")
        return answer, False

    def _repeated(self, kept: Kept, request: str, now: datetime) -> str:
        try:
            first, _, answer = self._sealer.unseal(kept.sealed, name=HEADER).partition("\n")
        except SecretUndecryptable:
            raise OutcomeUnknown(
                "The answer was kept with a vault key that is gone.", hint=_LOOK
            ) from None
        if first != request:
            raise InvalidRequest(
                "Another request to this tool had the same key.",
                where=HEADER,
                hint="A key is for one request and its repeats: send another one.",
            )
        if kept.done:
            return answer
        if kept.leased_until > now:
            raise Conflict(
                "The first request with this key is running.",
                where=HEADER,
                hint="Ask again in a moment: its answer is kept.",
            )
        raise OutcomeUnknown(
            "The first request with this key ended without an answer that could be kept: "
            "it may have happened.",
            where=HEADER,
            hint=_LOOK,
        )

    async def _keep(self, name: str, holder: str, text: str) -> None:
        """It has happened, so it is answered, kept or not."""
        try:
            await self._store.finish(name, holder=holder, sealed=self._sealer.seal(text))
        except ToolcribError as error:
            _log.error("an answer is not kept for its repeats", error=str(error))

    async def _sweep(self, now: datetime) -> None:
        if now >= self._sweeps_at:
            self._sweeps_at = now + _SWEPT
            await self._store.sweep()
