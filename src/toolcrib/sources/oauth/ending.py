"""This module revokes what was given for a login that is not used any more, where its server
offers that."""

from __future__ import annotations

import structlog

from toolcrib.errors import ToolcribError
from toolcrib.net.client import GuardedClient
from toolcrib.net.oauth_tokens import revoke
from toolcrib.secrets.sealing import Sealer
from toolcrib.sources.oauth.keeping import unsealed

_log = structlog.get_logger(__name__)


async def revoked(ref: str, sealed: bytes | None, *, sealer: Sealer, sender: GuardedClient) -> None:
    """Tell the server. A server that cannot be told does not bring the login back."""
    if sealed is None:
        return
    try:
        kept = unsealed(sealed, sealer, name=f"the login of {ref}")
        if kept.revocation_endpoint is not None:
            token = kept.refresh or kept.access
            await revoke(sender, kept.revocation_endpoint, kept.client, token)
    except ToolcribError as error:
        _log.warning("a login was not revoked", ref=ref, error=str(error))
