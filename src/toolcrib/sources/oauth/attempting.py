"""This module holds what an attempt to log in needs at its next step: the address for a browser,
then what is exchanged, then what waits to be confirmed."""

from __future__ import annotations

import base64
import hashlib
import secrets
from dataclasses import asdict, dataclass, field, replace
from datetime import datetime
from typing import Any
from urllib.parse import urlencode

import orjson

from toolcrib.net.oauth_tokens import Client
from toolcrib.secrets.logins import LoginDraft


@dataclass(frozen=True, kw_only=True, slots=True)
class Begun:
    """An attempt that has begun: all of this is sealed until the browser comes back.

    `ticket` is what its address here is known by; `resource` the address that the login is for, and
    `named` how the server itself spells that.
    """

    ticket: str = field(repr=False)
    verifier: str = field(default="", repr=False)
    issuer: str
    endpoint: str
    token_endpoint: str
    revocation_endpoint: str | None
    client: Client = field(repr=False)
    resource: str
    named: str
    scopes: tuple[str, ...]
    redirect_uri: str
    names_itself: bool
    names_resource: bool

    @property
    def resource_of_request(self) -> dict[str, str]:
        return {"resource": self.named} if self.names_resource else {}

    def opened(self) -> Begun:
        """The attempt in another browser: with a verifier of its own."""
        return replace(self, verifier=secrets.token_urlsafe(48))

    def url(self, state: str) -> str:
        """Where the browser goes to log in."""
        challenge = base64.urlsafe_b64encode(hashlib.sha256(self.verifier.encode()).digest())
        query = {
            "response_type": "code",
            "client_id": self.client.id,
            "redirect_uri": self.redirect_uri,
            "state": state,
            "code_challenge": challenge.decode().rstrip("="),
            "code_challenge_method": "S256",
            **self.resource_of_request,
        }
        if self.scopes:
            query["scope"] = " ".join(self.scopes)
        return f"{self.endpoint}{'&' if '?' in self.endpoint else '?'}{urlencode(query)}"

    def exchange(self, code: str) -> dict[str, str]:
        """The form that turns the code into tokens."""
        return {
            "grant_type": "authorization_code",
            "code": code,
            "redirect_uri": self.redirect_uri,
            "code_verifier": self.verifier,
            **self.resource_of_request,
        }

    def as_text(self) -> str:
        return orjson.dumps(asdict(self)).decode()


def begun_of(text: str) -> Begun:
    """What `as_text` wrote."""
    found: dict[str, Any] = orjson.loads(text)
    client, scopes = Client(**found.pop("client")), tuple(found.pop("scopes"))
    return Begun(**found, client=client, scopes=scopes)


@dataclass(frozen=True, kw_only=True, slots=True)
class Held:
    """A login that waits for its beginner's word: `code` is the digest of what they must say."""

    code: str = field(repr=False)
    draft: LoginDraft = field(repr=False)

    def as_text(self) -> str:
        draft = asdict(self.draft)
        sealed = self.draft.sealed
        draft["sealed"] = None if sealed is None else sealed.decode("ascii")
        return orjson.dumps({"code": self.code, "draft": draft}).decode()


def held_of(text: str) -> Held:
    """What `as_text` wrote."""
    found: dict[str, Any] = orjson.loads(text)
    draft: dict[str, Any] = found["draft"]
    ends, sealed = draft["expires_at"], draft["sealed"]
    draft["scopes"] = tuple(draft["scopes"])
    draft["expires_at"] = None if ends is None else datetime.fromisoformat(ends)
    draft["sealed"] = None if sealed is None else sealed.encode("ascii")
    return Held(code=found["code"], draft=LoginDraft(**draft))
