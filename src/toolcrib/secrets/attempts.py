"""This module holds logins that somebody began and nobody confirmed yet, and their port.

An attempt is `begun`; then `opened` in a browser; then `asking`, while the server gives tokens for
what the browser brought back; then `answered`: the tokens lie in it, sealed, and are nobody's
login. Only the word of whoever began it makes them one.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Literal, Protocol

from toolcrib.secrets.logins import Login, LoginDraft, LoginOwner

Stage = Literal["begun", "opened", "asking", "answered"]


@dataclass(frozen=True, kw_only=True, slots=True)
class Attempt:
    """A row. There is one for each beginner, ref and owner: who begins again ends the older one.

    `sealed`: what the attempt needs at its next step.
    """

    digest: str
    """SHA-256 (hex) of the ticket in the address that the person opens."""
    user_id: int
    """Who began it, and alone may confirm it."""
    ref: str
    label: str
    owner: LoginOwner
    sealed: bytes = field(repr=False)
    expires_at: datetime
    stage: Stage = "begun"
    browser: str | None = None
    """SHA-256 (hex) of the cookie of the browser that opened it last."""
    tries: int = 0
    """How many codes were tried."""


class AttemptStore(Protocol):
    """Attempts. What is too old is not there, whoever asks."""

    async def remember(self, attempt: Attempt) -> Attempt | None:
        """Write it down; returns the older one that it ended."""
        ...

    async def find(self, digest: str) -> Attempt | None: ...

    async def of(self, user_id: int, ref: str, owner: LoginOwner) -> Attempt | None: ...

    async def open(self, digest: str, *, state: str, browser: str, sealed: bytes) -> bool:
        """It goes on in this browser, and in none that opened it before; `state` is the digest of
        what the answer must bring. False when it is past that."""
        ...

    async def claim(self, state: str) -> Attempt | None:
        """The attempt, for the first who comes with its state, and then for nobody."""
        ...

    async def answer(self, digest: str, *, sealed: bytes, until: datetime) -> bool:
        """Keep what came until it is confirmed; False when the attempt is gone."""
        ...

    async def try_once(
        self, user_id: int, ref: str, owner: LoginOwner, *, most: int
    ) -> Attempt | None:
        """Count a try; None when nothing is to be confirmed or all tries were had."""
        ...

    async def admit(self, digest: str, draft: LoginDraft) -> Login | None:
        """Make the login of the attempt, which ends with that: for one of many who come at once."""
        ...

    async def drop(self, digest: str) -> Attempt | None:
        """End it; returns what it was, to one of those who come at once."""
        ...

    async def sweep(self) -> Sequence[Attempt]:
        """End those that are too old; returns them."""
        ...
