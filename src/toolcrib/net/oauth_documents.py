"""This module reads what OAuth servers publish about themselves: which authorization server a
resource trusts (RFC 9728), and where that server's endpoints are (RFC 8414, OpenID discovery).

Every address is judged by the guard: a resource that names an authorization server inside the
network gets nowhere. A document must be about what it was asked for, to the letter.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, cast
from urllib.parse import urlsplit, urlunsplit

import orjson

from toolcrib.errors import SourceError, SourceProtocolError
from toolcrib.net.challenges import challenges
from toolcrib.net.client import GuardedClient

LIMIT = 256 * 1024
TIMEOUT = 15.0
_RESOURCE = "/.well-known/oauth-protected-resource"
_SERVER = "/.well-known/oauth-authorization-server"
_OPENID = "/.well-known/openid-configuration"
_PLAIN = re.compile(r"https?://[!#-;=?-\[\]_a-z~]+", re.ASCII | re.IGNORECASE)
"""An address that means one thing to everybody: ASCII, without blanks, quotes and backslashes."""
_PORTS = {"https": 443, "http": 80}


@dataclass(frozen=True, kw_only=True, slots=True)
class Resource:
    """What a protected resource says of itself. `name` is how it spells its own address; `scopes`
    are those that it asked for when it refused, else all that it lists."""

    name: str
    issuers: Sequence[str]
    scopes: Sequence[str] = ()


@dataclass(frozen=True, kw_only=True, slots=True)
class AuthorizationServer:
    """What an authorization server says of itself; endpoints that it has not are None."""

    issuer: str
    token_endpoint: str
    authorization_endpoint: str | None = None
    registration_endpoint: str | None = None
    revocation_endpoint: str | None = None
    auth_methods: Sequence[str] = ("client_secret_basic",)
    has_pkce: bool = False
    reads_client_documents: bool = False
    names_itself_in_answers: bool = False

    @property
    def is_at_one_place(self) -> bool:
        """Whether people log in, and codes are taken, at the issuer's own origin."""
        here = _origin(self.issuer)
        there = (self.authorization_endpoint or self.issuer, self.token_endpoint)
        return all(_origin(endpoint) == here for endpoint in there)


async def resource_of(client: GuardedClient, url: str) -> Resource:
    """The metadata of the server at an address. Raises SourceError, EgressBlocked."""
    hinted, wanted = await _refused(client, url)
    for address in [hinted, *_well_known(_RESOURCE, url)]:
        document = await document_at(client, address) if address else None
        if document is None:
            continue
        named = document.get("resource")
        if not isinstance(named, str) or not covers(named, url):
            raise SourceProtocolError("The server's OAuth metadata is about another resource.")
        issuers = texts(document.get("authorization_servers"))
        if issuers:
            scopes = wanted or texts(document.get("scopes_supported"))
            return Resource(name=named, issuers=issuers, scopes=scopes)
    raise SourceProtocolError(
        "The server does not say which authorization server it trusts.",
        hint="Name it in the definition: auth.issuer.",
    )


async def server_of(client: GuardedClient, issuer: str) -> AuthorizationServer:
    """The metadata of an authorization server. Raises SourceError, EgressBlocked."""
    _require_plain(issuer, "issuer")
    places = [*_well_known(_SERVER, issuer)[:1], *_well_known(_OPENID, issuer)[:1]]
    places.append(issuer.rstrip("/") + _OPENID)
    for address in dict.fromkeys(places):
        document = await document_at(client, address)
        if document is not None:
            return _server(document, issuer)
    raise SourceProtocolError(f"The authorization server {issuer!r} publishes no metadata.")


async def document_at(client: GuardedClient, url: str) -> Mapping[str, Any] | None:
    """The JSON object at an address; None where there is none."""
    answer = await client.request(
        "GET", url, headers={"Accept": "application/json"}, timeout=TIMEOUT, limit=LIMIT
    )
    if not answer.ok or answer.truncated:
        if answer.status >= 500:
            raise SourceProtocolError(f"The metadata cannot be read: HTTP {answer.status}.")
        return None
    return json_object(answer.body)


def json_object(body: bytes) -> Mapping[str, Any] | None:
    try:
        found: object = orjson.loads(body)
    except orjson.JSONDecodeError:
        return None
    return cast("dict[str, Any]", found) if isinstance(found, dict) else None


def texts(value: object) -> tuple[str, ...]:
    """The texts of a list; nothing for what is none."""
    if not isinstance(value, list):
        return ()
    return tuple(one for one in cast("list[object]", value) if isinstance(one, str) and one)


async def _refused(client: GuardedClient, url: str) -> tuple[str | None, tuple[str, ...]]:
    """What the server's refusal names, asked without any credential: the address of its metadata,
    and the scopes that it wants."""
    try:
        answer = await client.request(
            "POST",
            url,
            headers={"Accept": "application/json, text/event-stream"},
            timeout=TIMEOUT,
            limit=LIMIT,
        )
    except SourceError as error:
        if error.code == "blocked":
            raise
        return None, ()
    for one in challenges(answer.headers.getall("WWW-Authenticate", ())):
        if one.scheme == "bearer":
            return one.params.get("resource_metadata"), one.scopes
    return None, ()


def _server(document: Mapping[str, Any], issuer: str) -> AuthorizationServer:
    if document.get("issuer") != issuer:
        raise SourceProtocolError(
            f"The metadata of {issuer!r} is about another issuer, so it is not believed."
        )
    token_endpoint = _address(document, "token_endpoint")
    if token_endpoint is None:
        raise SourceProtocolError(f"The authorization server {issuer!r} has no token endpoint.")
    return AuthorizationServer(
        issuer=issuer,
        token_endpoint=token_endpoint,
        authorization_endpoint=_address(document, "authorization_endpoint"),
        registration_endpoint=_address(document, "registration_endpoint"),
        revocation_endpoint=_address(document, "revocation_endpoint"),
        auth_methods=texts(document.get("token_endpoint_auth_methods_supported"))
        or ("client_secret_basic",),
        has_pkce="S256" in texts(document.get("code_challenge_methods_supported")),
        reads_client_documents=document.get("client_id_metadata_document_supported") is True,
        names_itself_in_answers=document.get("authorization_response_iss_parameter_supported")
        is True,
    )


def _address(document: Mapping[str, Any], name: str) -> str | None:
    """An endpoint; None where there is none. What the guard refuses besides is its affair."""
    value = document.get(name)
    if not isinstance(value, str) or not value:
        return None
    _require_plain(value, name)
    return value


def _require_plain(url: str, name: str) -> None:
    """Raises SourceProtocolError for what is no address, or might be read as another one."""
    try:
        good = _PLAIN.fullmatch(url) is not None and "#" not in url and _origin(url)[1] is not None
    except ValueError:
        good = False
    if not good:
        raise SourceProtocolError(
            f"The authorization server's {name} is no plain https address: {url[:200]!a}."
        )


def _origin(url: str) -> tuple[str, str | None, int | None]:
    parts = urlsplit(url)
    return parts.scheme.lower(), parts.hostname, _port(parts)


def _well_known(place: str, url: str) -> list[str]:
    """The well-known addresses of a URL: before its path, then at the root."""
    parts = urlsplit(url)
    origin = (parts.scheme, parts.netloc)
    path = parts.path.rstrip("/")
    found = [urlunsplit((*origin, place + path, parts.query, ""))] if path else []
    return [*found, urlunsplit((*origin, place, "", ""))]


def covers(named: str, url: str) -> bool:
    """Whether a resource's own name is that of the address, or of a place above it.

    A token is asked for by that name, so nothing may be in it that the address has not.
    """
    try:
        one, other = urlsplit(named), urlsplit(url)
        same = (one.scheme.lower(), one.hostname, _port(one)) == (
            other.scheme.lower(),
            other.hostname,
            _port(other),
        )
    except ValueError:
        return False
    if not named.isascii() or {"#", "@"} & set(named) or one.query not in {"", other.query}:
        return False
    above = one.path.rstrip("/")
    return same and (other.path.rstrip("/") == above or other.path.startswith(f"{above}/"))


def _port(parts: Any) -> int | None:
    return parts.port or _PORTS.get(parts.scheme.lower())
