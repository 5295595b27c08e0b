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
from toolcrib.sources.oauth.codes import digest_of
from toolcrib.sources.oauth.options import AuthOptions

NAME = "Toolcrib"


@dataclass(frozen=True, kw_only=True, slots=True)
class Place:
    """Where browsers come to. `document`: the address of the document that says who we are, where
    servers can read it.

    Each issuer has an address and a document of its own below these. So an answer that another
    authorization server sent is seen by where it came (RFC 9700, 4.4.2).
    """

    redirect_uri: str
    document: str | None = None
    login: str = ""
    """Where they begin, with a ticket behind it."""

    @property
    def is_secure(self) -> bool:
        return self.redirect_uri.startswith("https://")

    def page(self, ticket: str) -> str:
        return f"{self.login}/{ticket}"

    def redirect_for(self, name: str) -> str:
        """Where the answers of one issuer come to; the empty name is everybody's."""
        return f"{self.redirect_uri}/{name}" if name else self.redirect_uri

    def document_for(self, name: str) -> str | None:
        """The document for one issuer, which has its redirect address."""
        if self.document is None:
            return None
        return f"{self.document.removesuffix('.json')}/{name}" if name else self.document


def name_of(issuer: str) -> str:
    """What an issuer is called in addresses of ours."""
    return digest_of(issuer)[:32]


@dataclass(frozen=True, kw_only=True, slots=True)
class Registering:
    """Registers at each server once, and remembers it in `store`, sealed."""

    store: LoginStore
    sealer: Sealer
    sender: GuardedClient
    place: Place

    async def client(
        self, auth: AuthOptions, server: AuthorizationServer, scopes: tuple[str, ...]
    ) -> tuple[Client, str]:
        """`(who we are there, the redirect address)`. Raises InvalidRequest where somebody has to
        register us, or where answers could not be told apart, SourceError."""
        if auth.client_id is not None:
            _require_known_answers(server)
            client = client_with(auth.client_id, auth.client_secret, server.auth_methods)
            return client, self.place.redirect_uri
        name = name_of(server.issuer)
        redirect_uri, document = self.place.redirect_for(name), self.place.document_for(name)
        if server.reads_client_documents and document is not None:
            return Client(id=document), redirect_uri
        known = await self.store.client(server.issuer, redirect_uri)
        if known is None:
            return await self._registered(server, scopes, redirect_uri), redirect_uri
        found = orjson.loads(self.sealer.unseal(known, name="a registered client"))
        return Client(**found), redirect_uri

    async def _registered(
        self, server: AuthorizationServer, scopes: tuple[str, ...], redirect_uri: str
    ) -> Client:
        if server.registration_endpoint is None:
            raise InvalidRequest(
                f"{server.issuer!r} registers nobody by itself.",
                where="auth.client_id",
                hint=f"Register {NAME} there with the redirect address {self.place.redirect_uri} "
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


def _require_known_answers(server: AuthorizationServer) -> None:
    """A client that was registered by hand has the redirect address that all of them have. Raises
    InvalidRequest for a server whose metadata could be a mix of two servers'."""
    if not (server.names_itself_in_answers or server.is_at_one_place):
        raise InvalidRequest(
            f"{server.issuer!r} has its endpoints elsewhere and does not say that it names itself "
            "in its answers (RFC 9207), so the answer could be another server's.",
            where="auth.client_id",
            hint="Leave client_id out where the server registers clients by itself: they get a "
            "redirect address of their own.",
        )
