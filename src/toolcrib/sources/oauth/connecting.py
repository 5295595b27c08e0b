"""This module logs a person in at a server: a URL for their browser, then what it brings back.

The authorization code is bound to this process's installation by PKCE and to one attempt by a state
that works once. Which server answers was written down when the attempt began.
"""

from __future__ import annotations

import base64
import hashlib
import re
import secrets
from collections.abc import Awaitable, Callable
from dataclasses import asdict, dataclass, field
from datetime import datetime, timedelta
from typing import Any
from urllib.parse import urlencode

import orjson

from toolcrib.errors import EgressBlocked, InvalidRequest, SourceProtocolError
from toolcrib.net.client import GuardedClient
from toolcrib.net.oauth_documents import AuthorizationServer, resource_of, server_of
from toolcrib.net.oauth_tokens import Client, TokenRefused, client_with, register, tokens_for
from toolcrib.secrets.logins import Attempt, LoginStore
from toolcrib.secrets.sealing import Sealer
from toolcrib.sources.oauth.keeping import Clock, Kept, drafted
from toolcrib.sources.oauth.wanted import Wanted, require_hosts

PATIENCE = timedelta(minutes=10)
"""How long a person has for the login."""
NAME = "Toolcrib"
_CODE = re.compile(r"[a-z_]{1,64}")


@dataclass(frozen=True, kw_only=True, slots=True)
class Place:
    """Where browsers come back to. `document`: the address of the document that says who we are,
    where servers can read it."""

    redirect_uri: str
    document: str | None = None


@dataclass(frozen=True, kw_only=True, slots=True)
class Answer:
    """What a browser brought back."""

    state: str = field(repr=False)
    code: str | None = field(default=None, repr=False)
    error: str | None = None
    issuer: str | None = None


@dataclass(frozen=True, kw_only=True, slots=True)
class _Begun:
    """What an attempt needs again at its end."""

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


class Connecting:
    """Begins logins and finishes them. `changed` is awaited after one was made."""

    def __init__(
        self,
        *,
        store: LoginStore,
        sealer: Sealer,
        sender: GuardedClient,
        place: Place,
        clock: Clock,
        changed: Callable[[], Awaitable[object]],
    ) -> None:
        self._store = store
        self._sealer = sealer
        self._sender = sender
        self._place = place
        self._clock = clock
        self._changed = changed

    async def begin(self, wanted: Wanted, *, user_id: int) -> tuple[str, datetime]:
        """`(the URL to open, until when)`. Raises SourceError, EgressBlocked, InvalidRequest."""
        auth = wanted.auth
        issuer, scopes = auth.issuer, auth.scopes
        if issuer is None:
            told = await resource_of(self._sender, wanted.resource)
            issuer, scopes = told.issuers[0], scopes or tuple(told.scopes)
        server = await server_of(self._sender, issuer)
        endpoint = await self._endpoint(server)
        require_hosts(auth, server.token_endpoint)
        client = await self._client(wanted, server, scopes)
        begun = _Begun(
            verifier=secrets.token_urlsafe(48),
            issuer=server.issuer,
            token_endpoint=server.token_endpoint,
            revocation_endpoint=server.revocation_endpoint,
            client=client,
            resource=wanted.resource,
            scopes=scopes,
            redirect_uri=self._place.redirect_uri,
            names_itself=server.names_itself_in_answers,
            names_resource=wanted.names_resource,
        )
        state = secrets.token_urlsafe(32)
        until = self._clock() + PATIENCE
        await self._store.remember(
            Attempt(
                digest=_digest(state),
                user_id=user_id,
                ref=wanted.ref,
                label=wanted.label,
                owner=wanted.owner,
                sealed=self._sealer.seal(orjson.dumps(asdict(begun)).decode()),
                expires_at=until,
            )
        )
        return _url(endpoint, begun, state), until

    async def finish(self, answer: Answer) -> Attempt:
        """Take the answer once. Raises InvalidRequest with the reason, SourceError."""
        attempt = await self._store.take(_digest(answer.state))
        if attempt is None:
            minutes = int(PATIENCE.total_seconds() // 60)
            raise InvalidRequest(
                f"This login is not known: it was finished, or begun over {minutes} minutes ago.",
                hint="Begin it again.",
            )
        begun = _read(self._sealer.unseal(attempt.sealed, name="the login that was begun"))
        if answer.issuer != begun.issuer and (answer.issuer is not None or begun.names_itself):
            raise InvalidRequest("The answer is another authorization server's.")
        if answer.error is not None or not answer.code:
            code = answer.error or ""
            said = code if _CODE.fullmatch(code) else "it gave no code"
            raise InvalidRequest(f"The authorization server refused: {said}.")
        await self._exchange(attempt, begun, answer.code)
        await self._changed()
        return attempt

    async def _exchange(self, attempt: Attempt, begun: _Begun, code: str) -> None:
        form = {
            "grant_type": "authorization_code",
            "code": code,
            "redirect_uri": begun.redirect_uri,
            "code_verifier": begun.verifier,
            **begun.resource_of_request,
        }
        try:
            tokens = await tokens_for(self._sender, begun.token_endpoint, begun.client, form)
        except TokenRefused as refusal:
            if refusal.error == "invalid_client":  # the registration is gone: make another
                await self._store.forget_client(begun.issuer, begun.redirect_uri)
            raise
        kept = Kept(
            access=tokens.access,
            refresh=tokens.refresh,
            token_endpoint=begun.token_endpoint,
            revocation_endpoint=begun.revocation_endpoint,
            client=begun.client,
        )
        draft = drafted(
            kept,
            tokens,
            issuer=begun.issuer,
            resource=begun.resource,
            scopes=begun.scopes,
            renewable=tokens.refresh is not None,
            made=secrets.token_hex(8),
            sealer=self._sealer,
            now=self._clock(),
        )
        await self._store.put(attempt.ref, attempt.owner, draft)

    async def _endpoint(self, server: AuthorizationServer) -> str:
        """Where the browser goes. It is opened by a person, so it is judged like our own way."""
        endpoint = server.authorization_endpoint
        if endpoint is None:
            raise SourceProtocolError(f"{server.issuer!r} lets nobody log in: no endpoint for it.")
        if not server.has_pkce:
            raise SourceProtocolError(
                f"{server.issuer!r} does not offer PKCE with S256, so no code is asked of it."
            )
        verdict = await self._sender.verdict(endpoint)
        if not verdict.allowed:
            raise EgressBlocked(f"The login page is refused: {verdict.reason}", sent=False)
        return endpoint

    async def _client(
        self, wanted: Wanted, server: AuthorizationServer, scopes: tuple[str, ...]
    ) -> Client:
        """Who we are there: as the definition says, by our document, or as we register."""
        auth, place = wanted.auth, self._place
        if auth.client_id is not None:
            return client_with(auth.client_id, auth.client_secret, server.auth_methods)
        if server.reads_client_documents and place.document is not None:
            return Client(id=place.document)
        known = await self._store.client(server.issuer, place.redirect_uri)
        if known is not None:
            return Client(**orjson.loads(self._sealer.unseal(known, name="a registered client")))
        if server.registration_endpoint is None:
            raise InvalidRequest(
                f"{server.issuer!r} registers nobody by itself.",
                where="auth.client_id",
                hint=f"Register {NAME} there with the redirect address {place.redirect_uri} "
                "and set auth.client_id.",
            )
        made = await register(
            self._sender,
            server.registration_endpoint,
            name=NAME,
            redirect_uri=place.redirect_uri,
            scopes=scopes,
        )
        sealed = self._sealer.seal(orjson.dumps(asdict(made)).decode())
        await self._store.keep_client(server.issuer, place.redirect_uri, sealed)
        return made


def _url(endpoint: str, begun: _Begun, state: str) -> str:
    challenge = base64.urlsafe_b64encode(hashlib.sha256(begun.verifier.encode()).digest())
    query = {
        "response_type": "code",
        "client_id": begun.client.id,
        "redirect_uri": begun.redirect_uri,
        "state": state,
        "code_challenge": challenge.decode().rstrip("="),
        "code_challenge_method": "S256",
        **begun.resource_of_request,
    }
    if begun.scopes:
        query["scope"] = " ".join(begun.scopes)
    return f"{endpoint}{'&' if '?' in endpoint else '?'}{urlencode(query)}"


def _read(text: str) -> _Begun:
    found: dict[str, Any] = orjson.loads(text)
    client, scopes = Client(**found.pop("client")), tuple(found.pop("scopes"))
    return _Begun(**found, client=client, scopes=scopes)


def _digest(state: str) -> str:
    return hashlib.sha256(state.encode()).hexdigest()
