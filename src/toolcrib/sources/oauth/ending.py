"""This module revokes a login that was forgotten, where its server offers that."""

from __future__ import annotations

import structlog

from toolcrib.errors import ToolcribError
from toolcrib.net.client import GuardedClient
from toolcrib.net.oauth_tokens import revoke
from toolcrib.secrets.logins import Login
from toolcrib.secrets.sealing import Sealer
from toolcrib.sources.oauth.keeping import unsealed

_log = structlog.get_logger(__name__)


async def revoked(login: Login, *, sealer: Sealer, sender: GuardedClient) -> None:
    """Tell the server. A server that cannot be told does not bring the login back."""
    if login.sealed is None:
        return
    try:
        kept = unsealed(login.sealed, sealer, name=f"the login of {login.ref}")
        if kept.revocation_endpoint is not None:
            token = kept.refresh or kept.access
            await revoke(sender, kept.revocation_endpoint, kept.client, token)
    except ToolcribError as error:
        _log.warning("a login was not revoked", ref=login.ref, error=str(error))
