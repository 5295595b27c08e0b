"""This module names the places that need no token, and those of the gateway."""

from __future__ import annotations

import re

METADATA = "/.well-known/oauth-protected-resource"
"""What RFC 9728 serves: which issuer's tokens are taken. A resource's path may follow it."""
CALLBACK = "/oauth/callback"
"""Where an authorization server sends a person back to; an issuer's name may follow it."""
LOGIN = "/oauth/login"
"""Where a person begins, with a ticket behind it: they see what they would agree to."""
CLIENT = "/oauth/client.json"
"""Who we are, for authorization servers that read it (client id metadata document)."""
CLIENTS = "/oauth/client"
"""The same for one issuer, whose name follows it."""
OPEN_PATHS = frozenset(
    {"/healthz", "/readyz", "/llms.txt", "/schemas/package.json", METADATA, CALLBACK, CLIENT}
)
"""What needs no token."""
_BELOW = tuple(f"{path}/" for path in (METADATA, LOGIN, CALLBACK, CLIENTS))
_GATEWAY = re.compile(r"/mcp(?:/agents/[1-9][0-9]{0,18})?/?")


def is_open(path: str) -> bool:
    return path in OPEN_PATHS or path.startswith(_BELOW)


def is_gateway(path: str) -> bool:
    """Whether the path is one that MCP clients speak to: all agents', or one agent's."""
    return _GATEWAY.fullmatch(path) is not None
