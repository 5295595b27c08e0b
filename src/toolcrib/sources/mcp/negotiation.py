"""This module finds out which era of the protocol a server speaks, and opens it.

A server that answers `server/discover` with a version that we know is spoken to without a session.
Every other answer but "these versions and no others" means the older handshake.
"""

from __future__ import annotations

import mcp_types as types
from mcp.client import ClientSession
from mcp.shared.exceptions import MCPError
from mcp_types.version import (
    HANDSHAKE_PROTOCOL_VERSIONS,
    LATEST_MODERN_VERSION,
    MODERN_PROTOCOL_VERSIONS,
)
from pydantic import ValidationError

from toolcrib.errors import SourceProtocolError


async def negotiate(session: ClientSession, *, ask_first: bool = True) -> str:
    """The version that is spoken from now on. `ask_first` tries the newer era.

    Raises MCPError for what the server refuses, SourceProtocolError where nothing is common.
    """
    offered = await _offered(session) if ask_first else None
    if offered is None:
        try:
            return (await session.initialize()).protocol_version
        except RuntimeError as error:
            raise SourceProtocolError(str(error), sent=True) from None
        except ValidationError:
            raise SourceProtocolError(
                "The server's answer to the handshake is malformed.", sent=True
            ) from None
    session.adopt(offered)
    return str(session.protocol_version)


async def _offered(session: ClientSession) -> types.DiscoverResult | None:
    """What a server of the newer era says of itself; None for one of the older."""
    version = LATEST_MODERN_VERSION
    for attempt in range(2):
        try:
            answer = types.DiscoverResult.model_validate(await session.send_discover(version))
        except ValidationError:
            return None
        except MCPError as error:
            known = _known(error)
            common = [one for one in MODERN_PROTOCOL_VERSIONS if one in known]
            if common and attempt == 0:
                version = common[-1]
                continue
            if known and not set(known) & set(HANDSHAKE_PROTOCOL_VERSIONS):
                raise
            return None
        spoken = set(answer.supported_versions) & set(MODERN_PROTOCOL_VERSIONS)
        return answer if spoken else None
    return None


def _known(error: MCPError) -> list[str]:
    """The versions that a server names when it refuses ours."""
    if error.code != types.UNSUPPORTED_PROTOCOL_VERSION:
        return []
    try:
        return types.UnsupportedProtocolVersionErrorData.model_validate(error.data).supported
    except ValidationError:
        return []
