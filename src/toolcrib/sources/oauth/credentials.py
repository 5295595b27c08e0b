"""This module gives the access token of a login, and renews it before it ends.

What was unsealed is remembered until the row changes, or anybody tells that logins changed.
"""

from __future__ import annotations

import secrets
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta

from toolcrib.secrets.logins import Login, LoginDraft, LoginStore
from toolcrib.secrets.sealing import Sealer
from toolcrib.sources.oauth.keeping import Clock, unsealed
from toolcrib.sources.oauth.renewing import Renewal
from toolcrib.sources.oauth.wanted import ScopesWanted, Wanted, lacking, mismatch, missing

EARLY = timedelta(seconds=30)
"""A token is renewed so long before it ends: a call under way should not outlive it."""
PAUSE = timedelta(seconds=15)
"""How long a server that refused is not asked again."""
_REMEMBERED = 10_000
_SCOPES = 100
"""How many scopes of a server are kept for the next login."""


@dataclass(frozen=True, kw_only=True, slots=True)
class _Known:
    generation: int
    login: Login
    access: str = field(repr=False)

    def good_at(self, moment: datetime) -> bool:
        ends = self.login.expires_at
        return ends is None or moment + EARLY < ends


class Credentials:
    """Access tokens by what is wanted. `generation` rises when a login is made or ended."""

    def __init__(
        self,
        *,
        store: LoginStore,
        sealer: Sealer,
        renewal: Renewal,
        clock: Clock,
        generation: Callable[[], int],
    ) -> None:
        self._store = store
        self._sealer = sealer
        self._renewal = renewal
        self._clock = clock
        self._generation = generation
        self._known: dict[tuple[str, str], _Known] = {}

    async def token(self, wanted: Wanted, *, stale: str | None = None) -> str:
        """An access token that is good now; `stale` is one that the server just refused.

        Raises NotConnected, SecretUndecryptable, and SourceError when it cannot be renewed now.
        """
        known = self._known.get(wanted.key)
        current = known is not None and known.generation == self._generation()
        if current and known is not None and known.access != stale:
            fits = mismatch(known.login, wanted) is None
            if fits and known.good_at(self._clock()):
                return known.access
        found = await self._read(wanted)
        if found.access != stale and found.good_at(self._clock()):
            return found.access
        if found.access == stale and self._is_young(found.login):
            return found.access  # it refuses what it was just given: another would fare no better
        login = await self._renewal.renewed(wanted, found.login)
        return self._opened(wanted, login).access

    async def made(self, wanted: Wanted) -> str:
        """Which login it is: another text after every new one. Nothing is renewed for that.

        Raises NotConnected, SecretUndecryptable; SourceError for client credentials' first token.
        """
        known = self._known.get(wanted.key)
        if known is None or known.generation != self._generation():
            known = await self._read(wanted)
        if mismatch(known.login, wanted) is not None:
            known = await self._read(wanted)
        if not known.login.renewable and not known.good_at(self._clock()):
            raise missing(wanted, "the login has expired")
        return known.login.made

    async def lacks(self, wanted: Wanted, scopes: Sequence[str]) -> ScopesWanted | None:
        """Write down which of these scopes the login has not, for the next one to ask for; returns
        what to say of it. None where it has them all: another login would fare no better."""
        login = await self._store.find(wanted.ref, wanted.owner)
        new = [one for one in scopes if login is not None and one not in login.scopes]
        if login is None or not new:
            return None
        both = tuple(dict.fromkeys((*login.more_scopes, *new)))[:_SCOPES]
        if both != login.more_scopes and wanted.auth.grant == "authorization_code":
            await self._store.want(login, both)
        return lacking(wanted, new)

    async def _read(self, wanted: Wanted) -> _Known:
        login = await self._store.find(wanted.ref, wanted.owner)
        proves = wanted.auth.grant == "client_credentials"
        unfit = None if login is None else mismatch(login, wanted)
        if login is not None and unfit is None and login.status == "connected":
            return self._opened(wanted, login)
        if not proves or (login is not None and login.error and self._is_young(login)):
            why = unfit or (login.error if login else None)
            raise missing(wanted, why.rstrip(".")) if why else missing(wanted)
        return await self._first(wanted, login)

    def _is_young(self, login: Login) -> bool:
        return self._clock() - login.updated_at < PAUSE

    async def _first(self, wanted: Wanted, login: Login | None) -> _Known:
        """Client credentials need no person: a row to lease, then the usual flight."""
        if login is None or mismatch(login, wanted) is not None:
            await self._write_empty(wanted, login)
            login = await self._store.find(wanted.ref, wanted.owner)
        if login is None:
            raise missing(wanted)
        return self._opened(wanted, await self._renewal.renewed(wanted, login))

    async def _write_empty(self, wanted: Wanted, login: Login | None) -> None:
        draft = LoginDraft(
            issuer=str(wanted.auth.issuer),
            resource=wanted.resource,
            scopes=wanted.auth.scopes,
            status="needs_login",
            renewable=True,
            made=secrets.token_hex(8),
        )
        if login is None:
            await self._store.begin(wanted.ref, wanted.owner, draft)
        else:
            await self._store.put(wanted.ref, wanted.owner, draft)

    def _opened(self, wanted: Wanted, login: Login) -> _Known:
        if login.status != "connected" or login.sealed is None:
            raise missing(wanted, (login.error or "the login is over").rstrip("."))
        kept = unsealed(login.sealed, self._sealer, name=f"the login of {wanted.ref}")
        known = _Known(generation=self._generation(), login=login, access=kept.access)
        if len(self._known) >= _REMEMBERED:
            self._known.clear()
        self._known[wanted.key] = known
        return known
