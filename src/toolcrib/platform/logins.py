"""This module puts together what logs in at other servers, and keeps it logged in."""

from __future__ import annotations

import asyncio

import structlog

from toolcrib.desk.connections import LoginParts
from toolcrib.errors import ToolcribError
from toolcrib.identity.authentication import now
from toolcrib.net.client import GuardedClient
from toolcrib.platform.tasks import Tasks
from toolcrib.secrets.logins import Login
from toolcrib.secrets.sealing import Sealer
from toolcrib.settings import Settings
from toolcrib.sources.mcp.addressing import of_capability
from toolcrib.sources.mcp.connector import wanted_by
from toolcrib.sources.oauth.confirming import Confirming
from toolcrib.sources.oauth.connecting import Connecting
from toolcrib.sources.oauth.credentials import Credentials
from toolcrib.sources.oauth.ending import revoked
from toolcrib.sources.oauth.keeping import rotate
from toolcrib.sources.oauth.registering import Place
from toolcrib.sources.oauth.renewing import Renewal
from toolcrib.storage import Storage
from toolcrib.tools.remote import ServerAsked

_SWEEPS = 60
"""How often, in seconds, it is looked for logins that nobody confirmed."""
_log = structlog.get_logger(__name__)


class Logins:
    """`credentials` gives tokens, `connecting` makes logins. `close` it before the tasks."""

    def __init__(
        self,
        settings: Settings,
        storage: Storage,
        *,
        sealer: Sealer,
        sender: GuardedClient,
        tasks: Tasks,
    ) -> None:
        self._storage = storage
        self._sealer = sealer
        self._sender = sender
        self.place = place_of(settings)
        self._renewal = Renewal(
            store=storage.logins,
            sealer=sealer,
            sender=sender,
            spawn=tasks.spawn,
            clock=now,
            changed=self._lost,
        )
        self.credentials = Credentials(
            store=storage.logins,
            sealer=sealer,
            renewal=self._renewal,
            clock=now,
            generation=lambda: storage.signals.generation("mcp"),
        )
        self.confirming = Confirming(
            attempts=storage.attempts,
            sealer=sealer,
            sender=sender,
            clock=now,
            changed=self.tell,
        )
        self.connecting = Connecting(
            logins=storage.logins,
            attempts=storage.attempts,
            sealer=sealer,
            sender=sender,
            place=self.place,
            clock=now,
            confirming=self.confirming,
        )

    async def token_for(self, asked: ServerAsked) -> str | None:
        """The token that somebody's server wants now; None where it wants no login.

        Raises NotConnected, and what `Credentials.token` raises.
        """
        wanted = wanted_by(asked, of_capability(asked.options, asked.values))
        return None if wanted is None else await self.credentials.token(wanted)

    @property
    def parts(self) -> LoginParts:
        """What the desk needs of it."""
        return LoginParts(
            store=self._storage.logins,
            connecting=self.connecting,
            confirming=self.confirming,
            credentials=self.credentials,
            ended=self.ended,
            rotate=lambda: rotate(self._storage.logins, self._sealer),
        )

    async def ended(self, login: Login) -> None:
        """Whoever shows the login hears of its end; its server is told beside the request."""
        await self.tell()
        await revoked(login.ref, login.sealed, sealer=self._sealer, sender=self._sender)

    async def tell(self) -> None:
        """Lists of tools that depend on logins are made anew, in every process."""
        await self._storage.signals.bump("mcp")

    async def run(self) -> None:
        """Until it is cancelled: end the logins that nobody confirmed in time."""
        while True:
            try:
                await self.confirming.sweep()
            except ToolcribError as error:
                _log.warning("logins that nobody confirmed stay for now", error=str(error))
            await asyncio.sleep(_SWEEPS)

    async def close(self) -> None:
        """Wait for what is being renewed."""
        await self._renewal.close()

    async def _lost(self) -> None:
        try:
            await self.tell()
        except ToolcribError as error:
            _log.warning("the end of a login is not told", error=str(error))


def place_of(settings: Settings) -> Place:
    """Where browsers reach this server."""
    here = settings.public_url.rstrip("/") or f"http://{settings.host}:{settings.port}"
    document = f"{here}/oauth/client.json" if here.startswith("https://") else None
    return Place(
        redirect_uri=f"{here}/oauth/callback", document=document, login=f"{here}/oauth/login"
    )
