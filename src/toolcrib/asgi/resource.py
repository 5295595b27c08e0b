"""This module names what a request asks for as OAuth does: a resource, whose metadata says which
issuer's tokens are taken (RFC 9728) and which a token is issued for (RFC 8707)."""

from __future__ import annotations

from typing import Self

from starlette.datastructures import Headers
from starlette.types import Scope

from toolcrib.settings import Settings
from toolcrib.surfaces.http.places import METADATA, is_gateway
from toolcrib.tools.record import record


@record
class Resources:
    """`public` is the server's address without a slash at its end; empty: nobody told."""

    public: str
    issuer: str

    @classmethod
    def of(cls, settings: Settings) -> Self:
        return cls(public=settings.public_url.rstrip("/"), issuer=settings.oidc_issuer)

    def audiences(self, path: str) -> tuple[str, ...]:
        """What a token may be issued for that reaches this path alone."""
        if not self.issuer or not self.public or not is_gateway(path):
            return ()
        return (self.public + path.rstrip("/"),)

    def challenge(self, scope: Scope, path: str) -> str:
        """The `WWW-Authenticate` of a 401: where a client learns how to get a token."""
        if not self.issuer:
            return "Bearer"
        place = METADATA + (path.rstrip("/") if is_gateway(path) else "")
        sent = "authorization" in Headers(scope=scope)
        error = ', error="invalid_token"' if sent else ""
        return f'Bearer resource_metadata="{self._base(scope)}{place}"{error}'

    def _base(self, scope: Scope) -> str:
        if self.public:
            return self.public
        host = Headers(scope=scope).get("host", "127.0.0.1").replace('"', "")
        return f"{scope['scheme']}://{host}"
