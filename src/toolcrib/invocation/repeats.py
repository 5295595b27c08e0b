"""This module says what is kept of a request that has a key, so that its repeat is not run again.

The promise: of all requests with one key, in whichever process, one runs. Its answer is sealed.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import datetime
from typing import Protocol


@dataclass(frozen=True, kw_only=True, slots=True)
class Kept:
    """What is kept under a key. Until `leased_until` the one who has it may still be at work."""

    sealed: bytes = field(repr=False)
    done: bool
    leased_until: datetime


class RepeatStore(Protocol):
    """Keys by the digest of whose they are and what for."""

    async def begin(
        self,
        digest: str,
        *,
        user_id: int,
        holder: str,
        sealed: bytes,
        leased_until: datetime,
        expires_at: datetime,
    ) -> Kept | None:
        """Take the key; None: the holder has it now. Otherwise what is kept under it."""
        ...

    async def count(self, user_id: int) -> int:
        """How many keys of the user are kept."""
        ...

    async def finish(self, digest: str, *, holder: str, sealed: bytes) -> bool:
        """Keep the answer. False: the key is not the holder's any more."""
        ...

    async def forget(self, digest: str, *, holder: str) -> None:
        """Let the key go: nothing was run."""
        ...

    async def sweep(self) -> int:
        """Delete what has expired; how many there were."""
        ...
