"""This module says who we are at an authorization server: as a definition says, by a document of
ours, or as we register there."""

from __future__ import annotations

from dataclasses import asdict, dataclass

import orjson

from toolcrib.errors import InvalidRequest
from toolcrib.net.client import GuardedClient
from toolcrib.net.oauth_documents import AuthorizationServer
from toolcrib.net.oauth_tokens import Client, client_with, register
from toolcrib.secrets.logins import LoginStore
from toolcrib.secrets.sealing import Sealer
from toolcrib.sources.oauth.options import AuthOptions

NAME = "Toolcrib"


@dataclass(frozen=True, kw_only=True, slots=True)
class Place:
    """Where browsers come to. `document`: the address of the document that says who we are, where
    servers can read it."""

    redirect_uri: str
    document: str | None = None
    login: str = ""
    """Where they begin, with a ticket behind it."""

    @property
    def is_secure(self) -> bool:
        return self.redirect_uri.startswith("https://")

    def page(self, ticket: str) -> str:
        return f"{self.login}/{ticket}"


@dataclass(frozen=True, kw_only=True, slots=True)
class Registering:
    """Registers at each server once, and remembers it in `store`, sealed."""

    store: LoginStore
    sealer: Sealer
    sender: GuardedClient
    place: Place

    async def client(
        self, auth: AuthOptions, server: AuthorizationServer, scopes: tuple[str, ...]
    ) -> Client:
        """Raises InvalidRequest where somebody has to register us, SourceError."""
        if auth.client_id is not None:
            return client_with(auth.client_id, auth.client_secret, server.auth_methods)
        if server.reads_client_documents and self.place.document is not None:
            return Client(id=self.place.document)
        known = await self.store.client(server.issuer, self.place.redirect_uri)
        if known is not None:
            return Client(**orjson.loads(self.sealer.unseal(known, name="a registered client")))
        return await self._registered(server, scopes)

    async def _registered(self, server: AuthorizationServer, scopes: tuple[str, ...]) -> Client:
        redirect_uri = self.place.redirect_uri
        if server.registration_endpoint is None:
            raise InvalidRequest(
                f"{server.issuer!r} registers nobody by itself.",
                where="auth.client_id",
                hint=f"Register {NAME} there with the redirect address {redirect_uri} "
                "and set auth.client_id.",
            )
        made = await register(
            self.sender,
            server.registration_endpoint,
            name=NAME,
            redirect_uri=redirect_uri,
            scopes=scopes,
        )
        sealed = self.sealer.seal(orjson.dumps(asdict(made)).decode())
        await self.store.keep_client(server.issuer, redirect_uri, sealed)
        return made
