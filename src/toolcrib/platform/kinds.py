"""This module lists the types of packages that this version can run."""

from __future__ import annotations

from typing import Any

from toolcrib.errors import SetupError
from toolcrib.net.client import GuardedClient
from toolcrib.resolution.installed import PackageKinds
from toolcrib.secrets.memory import Memory
from toolcrib.sources.http.binding import SecretLookup
from toolcrib.sources.http.packages import PackageKind
from toolcrib.sources.mcp.packages import McpPackageKind
from toolcrib.sources.mcp.policy import StdioPolicy
from toolcrib.sources.mcp.pool import Pool
from toolcrib.sources.oauth.credentials import Credentials

MCP_TYPES = ("mcp_server", "mcp_sse", "mcp_streamable_http", "mcp_stdio")


def package_kinds(
    sender: GuardedClient,
    secret: SecretLookup,
    memory: Memory | None = None,
    servers: Pool | None = None,
    policy: StdioPolicy | None = None,
    credentials: Credentials | None = None,
) -> PackageKinds:
    """Each type of package with what checks and opens it.

    Without `servers` packages of servers can be checked and not called.
    """
    pool = servers or _no_servers(sender)
    return {
        "http": PackageKind(sender, secret, memory, credentials),
        **{kind: McpPackageKind(kind, pool, secret, policy, credentials) for kind in MCP_TYPES},
    }


def _no_servers(sender: GuardedClient) -> Pool:
    def refuse(*_: object) -> Any:
        raise SetupError("No server is connected to here.", hint="Open a platform.")

    return Pool(
        clients=refuse,
        poster=sender,
        policy=StdioPolicy(),
        spawn=refuse,
        changed=lambda: None,
    )
