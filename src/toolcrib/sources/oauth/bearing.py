"""This module puts one login's access token onto the requests of one server."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable

from toolcrib.net.challenges import more_scopes
from toolcrib.sources.oauth.credentials import Credentials
from toolcrib.sources.oauth.wanted import ScopesWanted, Wanted

_FORBIDDEN = 403
_SEEN = 4
"""How many of its tokens are looked for in what a server says: one it was given may come late."""


class Bearer:
    """The login that a connection uses. `made` says which one: a new login is another server."""

    def __init__(self, credentials: Credentials, wanted: Wanted, made: str) -> None:
        self.made = made
        self._credentials = credentials
        self._wanted = wanted
        self._seen: deque[str] = deque(maxlen=_SEEN)

    @property
    def private(self) -> frozenset[str]:
        """The tokens it gave lately, for masking."""
        return frozenset(self._seen)

    async def token(self, *, stale: str | None = None) -> str:
        """One that is good now. Raises NotConnected, SecretUndecryptable, SourceError."""
        token = await self._credentials.token(self._wanted, stale=stale)
        if token not in self._seen:
            self._seen.append(token)
        return token

    async def refusal(self, status: int, challenges: Iterable[str]) -> ScopesWanted | None:
        """What to say of an answer that wants more than the login allows, which is written down;
        `challenges` are its `WWW-Authenticate` headers. None for any other answer."""
        scopes = more_scopes(challenges) if status == _FORBIDDEN else ()
        return await self._credentials.lacks(self._wanted, scopes) if scopes else None

    def __repr__(self) -> str:
        return f"Bearer({self._wanted.ref!r}, {self._wanted.owner.key!r})"


async def bearer_for(credentials: Credentials, wanted: Wanted) -> Bearer:
    """Raises NotConnected when nobody has logged in."""
    return Bearer(credentials, wanted, await credentials.made(wanted))
