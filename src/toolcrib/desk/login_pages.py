"""This module is for whoever sits at a browser with a login that somebody began: what is asked of
them, where they go, and the code that they see at the end. Nobody here has a token."""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import datetime
from urllib.parse import urlsplit

from toolcrib.identity.accounts import GroupStore, UserStore
from toolcrib.secrets.attempts import Attempt
from toolcrib.sources.oauth.attempting import Begun
from toolcrib.sources.oauth.connecting import Answer, Connecting

_LONGEST = 80


@dataclass(frozen=True, kw_only=True, slots=True)
class Asked:
    """What somebody would agree to: `whose` gets to use the account at `server`.

    Names are as others chose them, cut and without what cannot be seen.
    """

    ticket: str = field(repr=False)
    label: str
    server: str
    """Its host, with the port where that is not the usual one."""
    login: str
    """The host of the page where they log in."""
    beginner: str
    whose: str
    is_group: bool
    scopes: tuple[str, ...]


@dataclass(frozen=True, kw_only=True, slots=True)
class Waiting:
    """A login that waits for its beginner: they must say the code by then."""

    asked: Asked
    code: str = field(repr=False)
    until: datetime


class LoginPages:
    """Logins as a browser sees them. What is wrong raises InvalidRequest, with the reason."""

    def __init__(self, *, connecting: Connecting, users: UserStore, groups: GroupStore) -> None:
        self._connecting = connecting
        self._users = users
        self._groups = groups

    async def look(self, ticket: str) -> Asked:
        return await self._asked(*await self._connecting.look(ticket))

    async def go_on(self, ticket: str, *, browser: str) -> str:
        """They agreed: where the browser goes now. `browser` is its cookie."""
        return await self._connecting.open(ticket, browser=browser)

    async def deny(self, ticket: str) -> None:
        """They want none of it: nothing is kept."""
        await self._connecting.deny(ticket)

    async def finish(self, answer: Answer) -> Waiting:
        """Take what the authorization server sent along, once. Raises SourceError too."""
        done = await self._connecting.finish(answer)
        asked = await self._asked(done.attempt, done.begun)
        return Waiting(asked=asked, code=done.code, until=done.until)

    async def _asked(self, attempt: Attempt, begun: Begun) -> Asked:
        beginner = await self._user(attempt.user_id)
        group_id = attempt.owner.group_id
        return Asked(
            ticket=begun.ticket,
            label=_shown(attempt.label),
            server=_host(begun.resource),
            login=_host(begun.endpoint),
            beginner=beginner,
            whose=beginner if group_id is None else await self._group(group_id),
            is_group=group_id is not None,
            scopes=tuple(_shown(one) for one in begun.scopes),
        )

    async def _user(self, user_id: int) -> str:
        user = await self._users.find(user_id)
        return f"{_shown(user.name)} (user {user_id})" if user else f"user {user_id}"

    async def _group(self, group_id: int) -> str:
        group = await self._groups.find(group_id)
        return f"{_shown(group.name)} (group {group_id})" if group else f"group {group_id}"


def _shown(text: str) -> str:
    """Without characters that change how the others look, and not longer than a line."""
    seen = "".join(one if one.isprintable() else " " for one in text)
    return seen if len(seen) <= _LONGEST else f"{seen[: _LONGEST - 1]}…"


def _host(url: str) -> str:
    """No path: what stands there may be a secret."""
    place = urlsplit(url).netloc.rpartition("@")[2].lower()
    return _shown(place if place.isascii() else ascii(place)[1:-1])
