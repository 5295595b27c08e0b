"""This module holds what an attempt to log in needs again at its end, and its address for a
browser."""

from __future__ import annotations

import base64
import hashlib
from dataclasses import asdict, dataclass, field
from typing import Any
from urllib.parse import urlencode

import orjson

from toolcrib.net.oauth_tokens import Client


@dataclass(frozen=True, kw_only=True, slots=True)
class Begun:
    """An attempt that has begun: all of this is sealed until the browser comes back."""

    verifier: str = field(repr=False)
    issuer: str
    token_endpoint: str
    revocation_endpoint: str | None
    client: Client = field(repr=False)
    resource: str
    scopes: tuple[str, ...]
    redirect_uri: str
    names_itself: bool
    names_resource: bool

    @property
    def resource_of_request(self) -> dict[str, str]:
        return {"resource": self.resource} if self.names_resource else {}

    def url(self, endpoint: str, state: str) -> str:
        """What the person opens."""
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
        return f"{endpoint}{'&' if '?' in endpoint else '?'}{urlencode(query)}"

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
