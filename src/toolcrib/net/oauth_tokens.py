"""This module speaks to an authorization server's endpoints: for tokens, to register, to revoke.

What the server answers is shown as its error code alone: its words could hold what was sent.
"""

from __future__ import annotations

import base64
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import quote, urlencode

import orjson

from toolcrib.errors import SourceError, SourceProtocolError
from toolcrib.net.client import GuardedClient
from toolcrib.net.oauth_documents import LIMIT, TIMEOUT, json_object

_CODE = re.compile(r"[a-z_]{1,64}")
_LONGEST = 16 * 1024
_VISIBLE = re.compile(r"[\x21-\x7e]+", re.ASCII)


class TokenRefused(SourceError):
    """The authorization server refused. `error` is its code, such as `invalid_grant`."""

    brief = "the server's login was refused"

    def __init__(self, error: str) -> None:
        super().__init__(f"The authorization server refused: {error}.", sent=True)
        self.error = error


@dataclass(frozen=True, kw_only=True, slots=True)
class Client:
    """Who we are to an authorization server."""

    id: str
    secret: str | None = field(default=None, repr=False)
    method: str = "none"
    """`client_secret_basic`, `client_secret_post` or `none`."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Tokens:
    """`lives` is in seconds; None: the server does not say."""

    access: str = field(repr=False)
    refresh: str | None = field(default=None, repr=False)
    lives: float | None = None
    scopes: tuple[str, ...] | None = None


def client_with(client_id: str, secret: str | None, methods: Sequence[str]) -> Client:
    """A client that proves itself in a way that the server takes."""
    if secret is None:
        return Client(id=client_id)
    posts = "client_secret_basic" not in methods and "client_secret_post" in methods
    return Client(
        id=client_id,
        secret=secret,
        method="client_secret_post" if posts else "client_secret_basic",
    )


async def tokens_for(
    sender: GuardedClient, endpoint: str, client: Client, form: Mapping[str, str]
) -> Tokens:
    """Ask for tokens. Raises TokenRefused, SourceError, EgressBlocked."""
    answer = await _posted(sender, endpoint, client, form)
    if not isinstance(answer, Mapping):
        raise SourceProtocolError("The authorization server answered no JSON.", sent=True)
    access = answer.get("access_token")
    if not isinstance(access, str) or not _sendable(access):
        raise SourceProtocolError("The authorization server gave no access token.", sent=True)
    if str(answer.get("token_type", "")).lower() != "bearer":
        raise SourceProtocolError("The authorization server gave no Bearer token.", sent=True)
    refresh, scope = answer.get("refresh_token"), answer.get("scope")
    return Tokens(
        access=access,
        refresh=refresh if isinstance(refresh, str) and 0 < len(refresh) <= _LONGEST else None,
        lives=_seconds(answer.get("expires_in")),
        scopes=tuple(scope.split()) if isinstance(scope, str) else None,
    )


async def register(
    sender: GuardedClient, endpoint: str, *, name: str, redirect_uri: str, scopes: Sequence[str]
) -> Client:
    """Register dynamically (RFC 7591), without a secret where the server allows it."""
    asked: dict[str, Any] = {
        "client_name": name,
        "redirect_uris": [redirect_uri],
        "grant_types": ["authorization_code", "refresh_token"],
        "response_types": ["code"],
        "token_endpoint_auth_method": "none",
        "application_type": "native" if redirect_uri.startswith("http://") else "web",
        **({"scope": " ".join(scopes)} if scopes else {}),
    }
    answer = await sender.request(
        "POST",
        endpoint,
        headers={"Content-Type": "application/json", "Accept": "application/json"},
        body=orjson.dumps(asked),
        timeout=TIMEOUT,
        limit=LIMIT,
    )
    told = json_object(answer.body) or {}
    if not answer.ok:
        raise TokenRefused(_error(told, answer.status))
    client_id, secret = told.get("client_id"), told.get("client_secret")
    if not isinstance(client_id, str) or not client_id:
        raise SourceProtocolError("The authorization server registered no client.", sent=True)
    method = told.get("token_endpoint_auth_method")
    proven = isinstance(secret, str) and bool(secret) and method != "none"
    if not proven:
        return Client(id=client_id)
    return client_with(client_id, str(secret), [str(method)] if method else [])


async def revoke(sender: GuardedClient, endpoint: str, client: Client, token: str) -> None:
    """Tell the server that a token is not used any more (RFC 7009). Raises SourceError."""
    await _posted(sender, endpoint, client, {"token": token})


async def _posted(
    sender: GuardedClient, endpoint: str, client: Client, form: Mapping[str, str]
) -> Mapping[str, Any] | None:
    fields = dict(form)
    headers = {
        "Content-Type": "application/x-www-form-urlencoded",
        "Accept": "application/json",
    }
    if client.method == "client_secret_basic":
        headers["Authorization"] = f"Basic {_basic(client)}"
    else:
        fields["client_id"] = client.id
    if client.method == "client_secret_post" and client.secret is not None:
        fields["client_secret"] = client.secret
    answer = await sender.request(
        "POST",
        endpoint,
        headers=headers,
        body=urlencode(fields).encode(),
        timeout=TIMEOUT,
        limit=LIMIT,
        credentials=True,
    )
    told = json_object(answer.body)
    if not answer.ok:
        if answer.status >= 500:
            raise SourceProtocolError(
                f"The authorization server answered HTTP {answer.status}.", sent=True
            )
        raise TokenRefused(_error(told or {}, answer.status))
    return told


def _basic(client: Client) -> str:
    """RFC 6749, 2.3.1: both parts are form-encoded first."""
    pair = f"{quote(client.id, safe='')}:{quote(client.secret or '', safe='')}"
    return base64.b64encode(pair.encode()).decode()


def _error(told: Mapping[str, Any], status: int) -> str:
    code = told.get("error")
    return code if isinstance(code, str) and _CODE.fullmatch(code) else f"HTTP {status}"


def _seconds(value: object) -> float | None:
    """Some servers write the number as text. None for what says nothing."""
    try:
        seconds = float(value)  # type: ignore[arg-type]
    except (TypeError, ValueError):
        return None
    return seconds if 0 < seconds < 10**9 else None


def _sendable(token: str) -> bool:
    return len(token) <= _LONGEST and _VISIBLE.fullmatch(token) is not None
