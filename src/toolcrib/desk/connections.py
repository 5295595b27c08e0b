"""This module connects a caller to servers that want a login: begun, confirmed, listed and ended.

A login is the caller's own, or a group's where the definition says so; then its admins make it.
Whoever sits at the browser has no token here, and need not be who began: `pages` is for them.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Literal

from toolcrib.desk.login_pages import LoginPages
from toolcrib.desk.login_places import LoginPlaces
from toolcrib.desk.reach import require
from toolcrib.errors import InvalidRequest, NotFound
from toolcrib.grants.decide import of_setting
from toolcrib.identity.caller import Caller
from toolcrib.secrets.logins import Login, LoginOwner, LoginStore
from toolcrib.secrets.settings import SettingOwner
from toolcrib.sources.oauth.confirming import Confirming
from toolcrib.sources.oauth.connecting import Connecting
from toolcrib.sources.oauth.credentials import Credentials
from toolcrib.sources.oauth.wanted import Wanted, mismatch

Status = Literal["connected", "expired", "needs_login", "failed"]


@dataclass(frozen=True, kw_only=True, slots=True)
class Connection:
    """How a login is, for people: never a token."""

    ref: str
    label: str
    grant: str
    user_id: int | None
    group_id: int | None
    status: Status
    error: str | None = None
    issuer: str | None = None
    scopes: tuple[str, ...] = ()
    more_scopes: tuple[str, ...] = ()
    """What the server wanted besides: the next login asks for it too."""
    expires_at: datetime | None = None
    updated_at: datetime | None = None


@dataclass(frozen=True, kw_only=True, slots=True)
class Begun:
    """`url`: what a person opens, until `open_until`; None where nobody is needed."""

    ref: str
    status: Status
    url: str | None = field(default=None, repr=False)
    open_until: datetime | None = None


@dataclass(frozen=True, kw_only=True, slots=True)
class LoginParts:
    """What makes logins and keeps them. `ended` revokes what one that was deleted still had;
    `rotate` seals them with the newest key and says how many."""

    store: LoginStore
    connecting: Connecting
    confirming: Confirming
    credentials: Credentials
    ended: Callable[[Login], Awaitable[None]]
    rotate: Callable[[], Awaitable[int]]


class Connections:
    """Logins of callers and of their groups."""

    def __init__(
        self,
        *,
        places: LoginPlaces,
        parts: LoginParts,
        pages: LoginPages,
        clock: Callable[[], datetime],
    ) -> None:
        self.pages = pages
        self._places = places
        self._store = parts.store
        self._connecting = parts.connecting
        self._confirming = parts.confirming
        self._credentials = parts.credentials
        self._ended = parts.ended
        self._clock = clock

    async def list(
        self, caller: Caller, *, after: str = "", limit: int = 50
    ) -> Sequence[tuple[str, Sequence[Connection]]]:
        """`(ref, its connections)` of every server that the caller may use and that wants a login,
        whoever's it is. Behind the ref `after`: capabilities by id, then packages by slug."""
        found: dict[str, list[Connection]] = {}
        async for wanted in self._places.of(caller, after=after):
            if len(found.keys() | {wanted.ref}) > limit:
                break
            login = await self._store.find(wanted.ref, wanted.owner)
            found.setdefault(wanted.ref, []).append(self._shown(wanted, login))
        return list(found.items())

    async def begin(self, caller: Caller, ref: str, *, group_id: int | None = None) -> Begun:
        """Begin a login. Raises NotFound, NotGranted, InvalidRequest, SourceError."""
        wanted = await self._places.get(caller, ref, group_id=group_id)
        self._require(caller, wanted.owner)
        if wanted.auth.grant == "client_credentials":
            await self._credentials.token(wanted)
            return Begun(ref=ref, status="connected")
        url, until = await self._connecting.begin(wanted, user_id=caller.user_id)
        return Begun(ref=ref, status="needs_login", url=url, open_until=until)

    async def confirm(
        self, caller: Caller, ref: str, code: str, *, group_id: int | None = None
    ) -> Connection:
        """Make the login that the caller began, with the code that their browser shows. Raises
        NotFound, NotGranted, Conflict, InvalidRequest."""
        wanted = await self._places.get(caller, ref, group_id=group_id)
        self._require(caller, wanted.owner)
        await self._confirming.confirm(wanted, code, user_id=caller.user_id)
        return self._shown(wanted, await self._store.find(ref, wanted.owner))

    async def disconnect(self, caller: Caller, ref: str, *, group_id: int | None = None) -> None:
        """Forget a login, and tell its server. Raises NotFound, NotGranted."""
        owner = LoginOwner(user_id=caller.user_id)
        if group_id is not None:
            owner = LoginOwner(group_id=group_id)
        self._require(caller, owner)
        login = await self._store.find(ref, owner)
        if login is None:
            raise NotFound(f"There is no login at {ref!r}.")
        await self._store.delete(ref, owner)
        await self._ended(login)

    def _require(self, caller: Caller, owner: LoginOwner) -> None:
        """A login is changed by whoever may change the settings of its owner."""
        if owner.user_id is None and owner.group_id is None:
            raise InvalidRequest("This login is the installation's: nobody makes it by hand.")
        holder = SettingOwner(user_id=owner.user_id, group_id=owner.group_id)
        whose = f"group {owner.group_id}" if owner.group_id is not None else f"user {owner.user_id}"
        require(caller, "change", of_setting(holder), what=f"a login of {whose}")

    def _shown(self, wanted: Wanted, login: Login | None) -> Connection:
        owner = wanted.owner
        unfit = None if login is None else mismatch(login, wanted)
        return Connection(
            ref=wanted.ref,
            label=wanted.label,
            grant=wanted.auth.grant,
            user_id=owner.user_id,
            group_id=owner.group_id,
            status="needs_login" if unfit or login is None else self._status(login),
            error=unfit or (_trouble(login) if login else None),
            issuer=login.issuer if login else wanted.auth.issuer,
            scopes=login.scopes if login else wanted.auth.scopes,
            more_scopes=login.more_scopes if login and not unfit else (),
            expires_at=login.expires_at if login else None,
            updated_at=login.updated_at if login else None,
        )

    def _status(self, login: Login) -> Status:
        over = login.expires_at is not None and login.expires_at <= self._clock()
        if login.status == "connected" and over and not login.renewable:
            return "expired"
        return login.status


def _trouble(login: Login) -> str | None:
    if login.error is None and login.more_scopes:
        wanted = " ".join(login.more_scopes)
        return f"The server wanted more than this login allows: {wanted}. Log in again to allow it."
    return login.error
