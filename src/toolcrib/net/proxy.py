"""This module reads the operator's proxy (`TOOLCRIB_EGRESS_PROXY`), which then makes connections.

The operator set its address, so it is trusted and not judged; the addresses of what is asked for
through it still are. The proxy is given names, as proxies expect, and looks them up itself.
"""

from __future__ import annotations

from ipaddress import ip_address

from yarl import URL

from toolcrib.errors import EgressBlocked, InvalidSettings
from toolcrib.net.resolver import Resolver

SETTING = "TOOLCRIB_EGRESS_PROXY"


class Proxy:
    """Raises InvalidSettings for anything but `http://[user:password@]host:port`."""

    def __init__(self, text: str) -> None:
        try:
            url = URL(text)
            host, port = url.raw_host, url.port
        except ValueError:
            host, port, url = None, None, URL()
        if url.scheme != "http" or not host or not port or url.path not in ("", "/"):
            raise InvalidSettings(
                f"{SETTING} cannot be used.",
                where=SETTING,
                hint="Write http://host:port or http://user:password@host:port.",
            )
        self.url = url
        self.host = host
        self.port = port

    def pins(self) -> frozenset[tuple[str, int]]:
        """The proxy's address where the setting names one instead of a host."""
        try:
            ip_address(self.host)
        except ValueError:
            return frozenset()
        return frozenset({(self.host, self.port)})

    async def addresses(self, resolver: Resolver) -> tuple[str, ...]:
        try:
            found = tuple(await resolver.resolve(self.host, self.port))
        except OSError as error:
            found, cause = (), error.strerror or type(error).__name__
        else:
            cause = "it has no address"
        if not found:
            raise EgressBlocked(f"The egress proxy's host does not resolve: {cause}.", sent=False)
        return found
