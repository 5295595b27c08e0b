"""This module renews a login: one flight for each, whatever number of tasks and processes wait.

Within a process the waiting share one future. Between processes the row is leased: whoever has the
lease asks, the others look at the row until it is another. A refresh token that the server
replaces with every use is thus used once.
"""

from __future__ import annotations

import asyncio
import secrets
from collections.abc import Awaitable, Callable, Coroutine
from dataclasses import replace
from datetime import timedelta
from typing import Any

from toolcrib.errors import SourceTimeout, ToolcribError
from toolcrib.net.client import GuardedClient
from toolcrib.net.oauth_documents import server_of
from toolcrib.net.oauth_tokens import Client, TokenRefused, client_with, tokens_for
from toolcrib.secrets.logins import Login, LoginDraft, LoginStore
from toolcrib.secrets.sealing import Sealer
from toolcrib.sources.oauth.keeping import Clock, Kept, drafted, unsealed, with_tokens
from toolcrib.sources.oauth.wanted import (
    NOT_CONNECTED,
    NotConnected,
    Wanted,
    missing,
    require_hosts,
    resource_of_request,
)

LEASE = timedelta(seconds=60)
"""Longer than asking takes (15 s each) and than the clocks of two machines may differ."""
_LOOKS_AGAIN = 0.1
_OVER = frozenset({"invalid_grant", "invalid_client", "unauthorized_client"})
"""Refusals after which asking again cannot help."""

Spawn = Callable[[Coroutine[Any, Any, None]], "asyncio.Task[None]"]


class Renewal:
    """`changed` is awaited when a login is lost. `close` waits for what is under way: a token that
    was given and not written down would be lost."""

    def __init__(
        self,
        *,
        store: LoginStore,
        sealer: Sealer,
        sender: GuardedClient,
        spawn: Spawn,
        clock: Clock,
        changed: Callable[[], Awaitable[None]],
    ) -> None:
        self._store = store
        self._sealer = sealer
        self._sender = sender
        self._spawn = spawn
        self._clock = clock
        self._changed = changed
        self._holder = secrets.token_hex(8)
        self._flights: dict[tuple[str, str], asyncio.Future[Login]] = {}

    async def renewed(self, wanted: Wanted, old: Login) -> Login:
        """The row after somebody renewed it, us or another process.

        Raises NotConnected, SourceError, EgressBlocked. Whoever is cancelled here leaves the
        flight to the others.
        """
        flight = self._flights.get(wanted.key)
        if flight is None:
            flight = asyncio.get_running_loop().create_future()
            self._flights[wanted.key] = flight
            self._spawn(self._fly(wanted, old, flight))
        return await asyncio.shield(flight)

    async def close(self) -> None:
        if self._flights:
            await asyncio.wait(list(self._flights.values()), timeout=30)

    async def _fly(self, wanted: Wanted, old: Login, flight: asyncio.Future[Login]) -> None:
        try:
            result = await self._renewed_once(wanted, old)
        except (ToolcribError, TimeoutError) as error:
            ours = error if isinstance(error, ToolcribError) else _late()
            flight.set_exception(ours)
            flight.exception()  # nobody may be waiting any more
        except BaseException:
            flight.cancel()
            raise
        else:
            flight.set_result(result)
        finally:
            self._flights.pop(wanted.key, None)

    async def _renewed_once(self, wanted: Wanted, old: Login) -> Login:
        async with asyncio.timeout(2 * LEASE.total_seconds()):
            while True:
                now = await self._store.find(wanted.ref, wanted.owner)
                if now is None:
                    raise missing(wanted)
                if now.version != old.version:
                    return now
                until = self._clock() + LEASE
                if await self._store.lease(now, holder=self._holder, until=until):
                    await self._ask(wanted, now)
                else:
                    await asyncio.sleep(_LOOKS_AGAIN)

    async def _ask(self, wanted: Wanted, login: Login) -> None:
        """Ask for new tokens and write down what came of it, with the lease in hand."""
        try:
            draft = await self._asked(wanted, login)
        except TokenRefused as refusal:
            if refusal.error not in _OVER:
                await self._store.release(login, holder=self._holder)
                raise
            error = missing(wanted, f"{login.issuer} refused: {refusal.error}")
            await self._lose(login, refusal.message)
            raise error from None
        except NotConnected as error:
            await self._lose(login, error.message.removeprefix(NOT_CONNECTED))
            raise
        except BaseException:
            await self._store.release(login, holder=self._holder)
            raise
        await self._store.settle(login, draft, holder=self._holder)

    async def _lose(self, login: Login, why: str) -> None:
        """The login is over: what it had is forgotten, and whoever shows it hears of it."""
        draft = LoginDraft(
            issuer=login.issuer,
            resource=login.resource,
            scopes=login.scopes,
            status="needs_login",
            error=why,
            made=login.made,
        )
        await self._store.settle(login, draft, holder=self._holder)
        await self._changed()

    async def _asked(self, wanted: Wanted, login: Login) -> LoginDraft:
        if wanted.auth.grant == "client_credentials":
            return await self._proved(wanted, login)
        if login.sealed is None:
            raise missing(wanted)
        kept = unsealed(login.sealed, self._sealer, name=f"the login of {wanted.ref}")
        if kept.refresh is None:
            raise missing(wanted, "the login has expired")
        client = _client_now(wanted, kept)
        require_hosts(wanted.auth, kept.token_endpoint)
        form = {
            "grant_type": "refresh_token",
            "refresh_token": kept.refresh,
            **resource_of_request(wanted, kept.resource),
        }
        tokens = await tokens_for(self._sender, kept.token_endpoint, client, form)
        new = with_tokens(replace(kept, client=client), tokens)
        return drafted(
            new,
            tokens,
            issuer=login.issuer,
            resource=login.resource,
            scopes=login.scopes,
            renewable=new.refresh is not None,
            made=login.made,
            sealer=self._sealer,
            now=self._clock(),
        )

    async def _proved(self, wanted: Wanted, login: Login) -> LoginDraft:
        """Client credentials: the issuer is the author's, so the server chooses nothing."""
        auth = wanted.auth
        server = await server_of(self._sender, str(auth.issuer))
        require_hosts(auth, server.token_endpoint)
        client = client_with(str(auth.client_id), auth.client_secret, server.auth_methods)
        form = {"grant_type": "client_credentials", **resource_of_request(wanted)}
        if auth.scopes:
            form["scope"] = " ".join(auth.scopes)
        tokens = await tokens_for(self._sender, server.token_endpoint, client, form)
        kept = Kept(
            access=tokens.access,
            token_endpoint=server.token_endpoint,
            revocation_endpoint=server.revocation_endpoint,
            client=client,
        )
        return drafted(
            kept,
            tokens,
            issuer=server.issuer,
            resource=wanted.resource,
            scopes=auth.scopes,
            renewable=True,
            made=login.made,
            sealer=self._sealer,
            now=self._clock(),
        )


def _client_now(wanted: Wanted, kept: Kept) -> Client:
    """The client of the login, with the secret that the definition has for it now."""
    auth = wanted.auth
    if auth.client_secret is None or auth.client_id != kept.client.id:
        return kept.client
    return replace(kept.client, secret=auth.client_secret)


def _late() -> SourceTimeout:
    return SourceTimeout("The login was not renewed in time.", sent=None)
