"""This module says which login a caller's server needs, and how it is missed."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from urllib.parse import urlsplit, urlunsplit

from toolcrib.errors import EgressBlocked, NotGranted, SecretMissing
from toolcrib.secrets.binding import may_go_to
from toolcrib.secrets.logins import Login, LoginDraft, LoginOwner
from toolcrib.secrets.places import OPEN, HiddenHost
from toolcrib.sources.oauth.options import AuthOptions

NOT_CONNECTED = "not connected: "
_PORTS = {"https": 443, "http": 80}


class NotConnected(SecretMissing):
    """Nobody has logged in at the server for this user or group."""

    brief = "the server wants a login"


class ScopesWanted(NotGranted):
    """The server wants more for this than the login allows."""

    brief = "the server wants a login that allows more"


@dataclass(frozen=True, kw_only=True, slots=True)
class Wanted:
    """One login: of which definition, for whom, at which address."""

    ref: str
    label: str
    owner: LoginOwner
    resource: str
    names_resource: bool = True
    """Whether tokens are asked for by the resource's name (RFC 8707); MCP servers want that."""
    auth: AuthOptions = field(repr=False)
    host: HiddenHost = OPEN
    """What errors do not tell of where the server is."""

    @property
    def key(self) -> tuple[str, str]:
        return self.ref, self.owner.key


def owner_of(auth: AuthOptions, *, user_id: int, group_id: int | None) -> LoginOwner:
    """Whose login counts for somebody. Raises NotConnected where a group's is wanted and there
    is no group."""
    if auth.per == "user":
        return LoginOwner(user_id=user_id)
    if group_id is None:
        raise NotConnected(
            f"{NOT_CONNECTED}the login is a group's, and this agent has no group",
            hint="Use an agent of a group, or set auth.per to 'user'.",
        )
    return LoginOwner(group_id=group_id)


def resource_of(url: str) -> str:
    """An address as OAuth names a resource (RFC 8707): no fragment, a lowercase origin."""
    parts = urlsplit(url)
    path = "" if parts.path == "/" else parts.path
    return urlunsplit((parts.scheme.lower(), parts.netloc.lower(), path, parts.query, ""))


def require_hosts(auth: AuthOptions, endpoint: str) -> None:
    """Raises EgressBlocked for a value that may not go to the authorization server."""
    parts = urlsplit(endpoint)
    host, port = parts.hostname or "", parts.port or _PORTS.get(parts.scheme, 0)
    for name, hosts in auth.held:
        if not may_go_to(hosts, host, port):
            raise EgressBlocked(
                f"The value {name!r} may go to {', '.join(hosts)} only, not to {host!r}.",
                sent=False,
            )


def missing(wanted: Wanted, why: str = "nobody has logged in there yet") -> NotConnected:
    """What a tool's list says, with what mends it."""
    return NotConnected(f"{NOT_CONNECTED}{why}", hint=_how(wanted))


def lacking(wanted: Wanted, scopes: Sequence[str]) -> ScopesWanted:
    """What a call says whose server wanted these scopes besides."""
    hint = "Add them to auth.scopes of the definition."
    if wanted.auth.grant == "authorization_code":
        hint = f"Log in again, which asks for them too: {_how(wanted)}"
    return ScopesWanted(
        f"The server wants more than this login allows: {' '.join(scopes)}.", hint=hint
    )


def _how(wanted: Wanted) -> str:
    body = f'{{"ref": "{wanted.ref}"}}'
    if wanted.owner.group_id is not None:
        body = f'{{"ref": "{wanted.ref}", "group_id": {wanted.owner.group_id}}}'
    return (
        f"POST /api/v1/mcp/connections {body} gives the address to open, "
        f"and so does `toolcrib mcp login {wanted.ref}`."
    )


def resource_of_request(wanted: Wanted, named: str | None = None) -> dict[str, str]:
    """The `resource` of a request for tokens, where there is one: as the server spells it itself,
    where it said so."""
    return {"resource": named or wanted.resource} if wanted.names_resource else {}


def mismatch(login: Login | LoginDraft, wanted: Wanted) -> str | None:
    """Why a login is for another server than the one that is wanted now; None when it fits."""
    if login.resource != wanted.resource:
        return "the server's address is another one since"
    if wanted.auth.issuer is not None and login.issuer != wanted.auth.issuer:
        return "the authorization server is another one since"
    return None
