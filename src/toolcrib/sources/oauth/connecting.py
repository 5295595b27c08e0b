"""This module logs a person in at a server: a page of ours for their browser, the server's own,
then what the browser brings back.

The authorization code is bound to this installation by PKCE; to one browser by a cookie; and to one
attempt by a state that works once. Which server answers was written down when the attempt began.
"""

from __future__ import annotations

import re
import secrets
from dataclasses import dataclass, field
from datetime import datetime, timedelta

from toolcrib.errors import EgressBlocked, InvalidRequest, SourceProtocolError, ToolcribError
from toolcrib.net.client import GuardedClient
from toolcrib.net.oauth_documents import AuthorizationServer, Resource, resource_of, server_of
from toolcrib.net.oauth_tokens import TokenRefused, Tokens, tokens_for
from toolcrib.secrets.attempts import Attempt, AttemptStore
from toolcrib.secrets.logins import LoginDraft, LoginStore
from toolcrib.secrets.sealing import Sealer
from toolcrib.sources.oauth.attempting import Begun, begun_of
from toolcrib.sources.oauth.codes import digest_of, same
from toolcrib.sources.oauth.confirming import Confirming
from toolcrib.sources.oauth.keeping import Clock, Kept, drafted
from toolcrib.sources.oauth.registering import Place, Registering
from toolcrib.sources.oauth.wanted import Wanted, mismatch, require_hosts

PATIENCE = timedelta(minutes=10)
"""How long a person has for the login."""
_CODE = re.compile(r"[a-z_]{1,64}")


@dataclass(frozen=True, kw_only=True, slots=True)
class Answer:
    """What a browser brought back; `browser` is its cookie."""

    state: str = field(repr=False)
    code: str | None = field(default=None, repr=False)
    error: str | None = None
    issuer: str | None = None
    browser: str = field(default="", repr=False)
    came_to: str = ""
    """The issuer's name in the address that it came to; empty: everybody's address."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Answered:
    """A login that waits to be confirmed: `code` is for the eyes of whoever sits at the browser."""

    attempt: Attempt
    begun: Begun
    code: str = field(repr=False)
    until: datetime


class Connecting:
    """Begins logins, and takes them as far as `confirming`."""

    def __init__(
        self,
        *,
        logins: LoginStore,
        attempts: AttemptStore,
        sealer: Sealer,
        sender: GuardedClient,
        place: Place,
        clock: Clock,
        confirming: Confirming,
    ) -> None:
        self._logins = logins
        self._attempts = attempts
        self._sealer = sealer
        self._sender = sender
        self._us = Registering(store=logins, sealer=sealer, sender=sender, place=place)
        self._clock = clock
        self._confirming = confirming

    async def begin(self, wanted: Wanted, *, user_id: int) -> tuple[str, datetime]:
        """`(the URL to open, until when)`. Raises SourceError, EgressBlocked, InvalidRequest."""
        auth = wanted.auth
        told: Resource | None = None
        if auth.issuer is None:
            with wanted.host.hidden():
                told = await resource_of(self._sender, wanted.resource)
        issuer = auth.issuer or (told.issuers[0] if told else "")
        scopes = await self._scopes(wanted, told)
        server = await server_of(self._sender, issuer)
        endpoint = await self._endpoint(server)
        require_hosts(auth, server.token_endpoint)
        client, redirect_uri = await self._us.client(auth, server, scopes)
        begun = Begun(
            ticket=secrets.token_urlsafe(32),
            issuer=server.issuer,
            endpoint=endpoint,
            token_endpoint=server.token_endpoint,
            revocation_endpoint=server.revocation_endpoint,
            client=client,
            resource=wanted.resource,
            named=told.name if told else wanted.resource,
            scopes=scopes,
            redirect_uri=redirect_uri,
            names_itself=server.names_itself_in_answers,
            names_resource=wanted.names_resource,
        )
        until = self._clock() + PATIENCE
        older = await self._attempts.remember(
            Attempt(
                digest=digest_of(begun.ticket),
                user_id=user_id,
                ref=wanted.ref,
                label=wanted.label,
                owner=wanted.owner,
                sealed=self._sealer.seal(begun.as_text()),
                expires_at=until,
            )
        )
        if older is not None:
            await self._confirming.ended(older)
        return self._us.place.page(begun.ticket), until

    async def look(self, ticket: str) -> tuple[Attempt, Begun]:
        """What is asked of whoever opened the address. Raises InvalidRequest."""
        attempt = await self._attempts.find(digest_of(ticket))
        if attempt is None or attempt.stage not in {"begun", "opened"}:
            raise _unknown()
        return attempt, self._begun(attempt)

    async def open(self, ticket: str, *, browser: str) -> str:
        """Go on in this browser: where it is sent to. Raises InvalidRequest."""
        attempt, begun = await self.look(ticket)
        opened, state = begun.opened(), secrets.token_urlsafe(32)
        if not await self._attempts.open(
            attempt.digest,
            state=digest_of(state),
            browser=digest_of(browser),
            sealed=self._sealer.seal(opened.as_text()),
        ):
            raise _unknown()
        return opened.url(state)

    async def deny(self, ticket: str) -> None:
        """Whoever sits at a browser wants none of it. Raises InvalidRequest when it is over."""
        attempt = await self._attempts.find(digest_of(ticket))
        if attempt is None:
            raise _unknown()
        await self._confirming.forget(attempt)

    async def finish(self, answer: Answer) -> Answered:
        """Take the answer once, and hold what it brings. Raises InvalidRequest with the reason,
        SourceError; the attempt is over then."""
        attempt = await self._attempts.claim(digest_of(answer.state))
        if attempt is None:
            raise _unknown()
        try:
            begun = self._begun(attempt)
            tokens = await self._exchanged(attempt, begun, answer)
        except ToolcribError:
            await self._attempts.drop(attempt.digest)
            raise
        code, until = await self._confirming.hold(attempt, self._draft(begun, tokens))
        return Answered(attempt=attempt, begun=begun, code=code, until=until)

    async def _exchanged(self, attempt: Attempt, begun: Begun, answer: Answer) -> Tokens:
        if not same(digest_of(answer.browser), attempt.browser):
            raise InvalidRequest(
                "The login was begun in another browser, or this one keeps no cookies.",
                hint="Begin it again, and open its address in the browser that you log in with.",
            )
        elsewhere = self._us.place.redirect_for(answer.came_to) != begun.redirect_uri
        if elsewhere or (
            answer.issuer != begun.issuer and (answer.issuer is not None or begun.names_itself)
        ):
            raise InvalidRequest("The answer is another authorization server's.")
        if answer.error is not None or not answer.code:
            error = answer.error or ""
            said = error if _CODE.fullmatch(error) else "it gave no code"
            raise InvalidRequest(f"The authorization server refused: {said}.")
        try:
            return await tokens_for(
                self._sender, begun.token_endpoint, begun.client, begun.exchange(answer.code)
            )
        except TokenRefused as refusal:
            if refusal.error == "invalid_client":  # the registration is gone: make another
                await self._logins.forget_client(begun.issuer, begun.redirect_uri)
            raise

    def _draft(self, begun: Begun, tokens: Tokens) -> LoginDraft:
        kept = Kept(
            access=tokens.access,
            refresh=tokens.refresh,
            token_endpoint=begun.token_endpoint,
            revocation_endpoint=begun.revocation_endpoint,
            client=begun.client,
            resource=begun.named,
        )
        return drafted(
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

    def _begun(self, attempt: Attempt) -> Begun:
        return begun_of(self._sealer.unseal(attempt.sealed, name="the login that was begun"))

    async def _scopes(self, wanted: Wanted, told: Resource | None) -> tuple[str, ...]:
        """What is asked for. Where the server wanted more than a login has: all of both."""
        scopes = wanted.auth.scopes or tuple(told.scopes if told else ())
        login = await self._logins.find(wanted.ref, wanted.owner)
        if login is None or not login.more_scopes or mismatch(login, wanted) is not None:
            return scopes
        return tuple(dict.fromkeys((*scopes, *login.scopes, *login.more_scopes)))

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


def _unknown() -> InvalidRequest:
    minutes = int(PATIENCE.total_seconds() // 60)
    return InvalidRequest(
        "This login is not known: it was finished, denied or begun anew, or is over "
        f"{minutes} minutes old.",
        hint="Begin it again.",
    )
