"""This module logs a person in at a server: a URL for their browser, then what it brings back.

The authorization code is bound to this process's installation by PKCE and to one attempt by a state
that works once. Which server answers was written down when the attempt began.
"""

from __future__ import annotations

import hashlib
import re
import secrets
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from datetime import datetime, timedelta

from toolcrib.errors import EgressBlocked, InvalidRequest, SourceProtocolError
from toolcrib.net.client import GuardedClient
from toolcrib.net.oauth_documents import AuthorizationServer, resource_of, server_of
from toolcrib.net.oauth_tokens import TokenRefused, tokens_for
from toolcrib.secrets.logins import Attempt, LoginStore
from toolcrib.secrets.sealing import Sealer
from toolcrib.sources.oauth.attempting import Begun, begun_of
from toolcrib.sources.oauth.keeping import Clock, Kept, drafted
from toolcrib.sources.oauth.registering import Place, Registering
from toolcrib.sources.oauth.wanted import Wanted, require_hosts

PATIENCE = timedelta(minutes=10)
"""How long a person has for the login."""
_CODE = re.compile(r"[a-z_]{1,64}")


@dataclass(frozen=True, kw_only=True, slots=True)
class Answer:
    """What a browser brought back."""

    state: str = field(repr=False)
    code: str | None = field(default=None, repr=False)
    error: str | None = None
    issuer: str | None = None


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
        self._us = Registering(store=store, sealer=sealer, sender=sender, place=place)
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
        client = await self._us.client(auth, server, scopes)
        begun = Begun(
            verifier=secrets.token_urlsafe(48),
            issuer=server.issuer,
            token_endpoint=server.token_endpoint,
            revocation_endpoint=server.revocation_endpoint,
            client=client,
            resource=wanted.resource,
            scopes=scopes,
            redirect_uri=self._us.place.redirect_uri,
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
                sealed=self._sealer.seal(begun.as_text()),
                expires_at=until,
            )
        )
        return begun.url(endpoint, state), until

    async def finish(self, answer: Answer) -> Attempt:
        """Take the answer once. Raises InvalidRequest with the reason, SourceError."""
        attempt = await self._store.take(_digest(answer.state))
        if attempt is None:
            minutes = int(PATIENCE.total_seconds() // 60)
            raise InvalidRequest(
                f"This login is not known: it was finished, or begun over {minutes} minutes ago.",
                hint="Begin it again.",
            )
        begun = begun_of(self._sealer.unseal(attempt.sealed, name="the login that was begun"))
        if answer.issuer != begun.issuer and (answer.issuer is not None or begun.names_itself):
            raise InvalidRequest("The answer is another authorization server's.")
        if answer.error is not None or not answer.code:
            code = answer.error or ""
            said = code if _CODE.fullmatch(code) else "it gave no code"
            raise InvalidRequest(f"The authorization server refused: {said}.")
        await self._exchange(attempt, begun, answer.code)
        await self._changed()
        return attempt

    async def _exchange(self, attempt: Attempt, begun: Begun, code: str) -> None:
        try:
            tokens = await tokens_for(
                self._sender, begun.token_endpoint, begun.client, begun.exchange(code)
            )
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


def _digest(state: str) -> str:
    return hashlib.sha256(state.encode()).hexdigest()
