"""This module reads the `auth` of a definition: how a server is logged in to, and for whom."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, Literal, cast

from toolcrib.errors import InvalidOptions
from toolcrib.secrets.binding import hosts_of
from toolcrib.secrets.placeholders import SETTINGS, Language, fill, needs
from toolcrib.tools.source import Finding

Grant = Literal["authorization_code", "client_credentials"]
Per = Literal["user", "group"]
GRANTS: tuple[Grant, ...] = ("authorization_code", "client_credentials")
PERS: tuple[Per, ...] = ("user", "group")
_KNOWN = ("type", "grant", "client_id", "client_secret", "scopes", "issuer", "per")
_LITERAL = ("type", "grant", "issuer", "per")


@dataclass(frozen=True, kw_only=True, slots=True)
class AuthOptions:
    """An `auth`, filled. `issuer` None: the server itself says whom it trusts."""

    grant: Grant = "authorization_code"
    per: Per = "user"
    issuer: str | None = None
    client_id: str | None = None
    client_secret: str | None = field(default=None, repr=False)
    scopes: tuple[str, ...] = ()
    held: tuple[tuple[str, tuple[str, ...]], ...] = ()
    """Values inside that may go to certain hosts only: each name with its hosts."""


def auth_of(
    definition: Mapping[str, Any] | None,
    values: Mapping[str, str],
    *,
    where: str,
    language: Language = SETTINGS,
) -> AuthOptions | None:
    """The `auth` of options or of a config; None where there is none. Raises InvalidOptions."""
    given = (definition or {}).get("auth")
    if given is None:
        return None
    for finding in findings(given, where=where, language=language):
        raise InvalidOptions(finding.message, where=finding.where)
    told = cast("Mapping[str, Any]", given)
    used = sorted(needs(told, language))
    return AuthOptions(
        grant=told.get("grant", "authorization_code"),
        per=told.get("per", "user"),
        issuer=told.get("issuer"),
        client_id=_filled(told.get("client_id"), values, language, where),
        client_secret=_filled(told.get("client_secret"), values, language, where),
        scopes=_scopes(told.get("scopes")) or (),
        held=tuple((name, hosts_of(values[name])) for name in used if hosts_of(values[name])),
    )


def has_auth(definition: Mapping[str, Any]) -> bool:
    """Whether a login is wanted, well described or not."""
    return any(key == "auth" or key.startswith("auth.") for key in definition)


def without_auth(definition: Mapping[str, Any]) -> dict[str, Any]:
    """The definition for everybody who is no authorization server."""
    return {
        key: value
        for key, value in definition.items()
        if key != "auth" and not key.startswith("auth.")
    }


def findings(given: object, *, where: str, language: Language = SETTINGS) -> Iterator[Finding]:
    """What is wrong with an `auth`, each with its place below `where`."""
    if not isinstance(given, Mapping):
        yield Finding(where=where, message="It must be an object such as {'type': 'oauth2'}.")
        return
    auth = cast("Mapping[str, object]", given)
    for key in auth:
        if key not in _KNOWN:
            known = ", ".join(_KNOWN)
            yield Finding(where=f"{where}.{key}", message=f"Unknown; known are {known}.")
    for key in _LITERAL:
        if needs(auth.get(key), language):
            yield Finding(
                where=f"{where}.{key}",
                message="No placeholder may stand here: who is asked for tokens is the author's.",
            )
    yield from _chosen(auth, "type", ("oauth2",), where, required=True)
    yield from _chosen(auth, "grant", GRANTS, where)
    yield from _chosen(auth, "per", PERS, where)
    yield from _texts(auth, where)
    yield from _together(auth, where)


def _chosen(
    auth: Mapping[str, object],
    key: str,
    known: tuple[str, ...],
    where: str,
    *,
    required: bool = False,
) -> Iterator[Finding]:
    if key not in auth and not required:
        return
    value = auth.get(key)
    if not isinstance(value, str) or value not in known:
        words = " or ".join(repr(one) for one in known)
        yield Finding(where=f"{where}.{key}", message=f"It must be {words}.")


def _texts(auth: Mapping[str, object], where: str) -> Iterator[Finding]:
    for key in ("client_id", "client_secret"):
        value = auth.get(key)
        if value is not None and (not isinstance(value, str) or not value.strip()):
            yield Finding(where=f"{where}.{key}", message="It must be text.")
    issuer = auth.get("issuer")
    if issuer is not None and not (
        isinstance(issuer, str) and issuer.lower().startswith(("https://", "http://"))
    ):
        yield Finding(
            where=f"{where}.issuer",
            message="It must be the https address of the issuer.",
        )
    if auth.get("scopes") is not None and _scopes(auth["scopes"]) is None:
        yield Finding(where=f"{where}.scopes", message="It must be a list of texts without spaces.")


def _together(auth: Mapping[str, object], where: str) -> Iterator[Finding]:
    """What one says asks for another."""
    proves = auth.get("grant") == "client_credentials"
    for key in ("client_id", "client_secret"):
        if proves and auth.get(key) is None:
            yield Finding(where=f"{where}.{key}", message="Client credentials need it.")
    if auth.get("client_secret") is not None and auth.get("client_id") is None and not proves:
        yield Finding(where=f"{where}.client_id", message="A client_secret belongs to a client_id.")
    if (proves or auth.get("client_secret") is not None) and auth.get("issuer") is None:
        yield Finding(
            where=f"{where}.issuer",
            message="It is missing: without it the server would choose who gets the client_secret.",
        )


def _scopes(value: object) -> tuple[str, ...] | None:
    if value is None:
        return ()
    if isinstance(value, str):
        return tuple(value.split())
    if not isinstance(value, list | tuple):
        return None
    listed = list(cast("list[object]", value))
    good = all(isinstance(one, str) and one and not set(one) & set(' "\\\r\n\t') for one in listed)
    return tuple(cast("list[str]", listed)) if good else None


def _filled(value: object, values: Mapping[str, str], language: Language, where: str) -> str | None:
    if value is None:
        return None
    return cast("str", fill(value, values, language=language, where=where))
