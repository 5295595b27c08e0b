"""This module reads the operator's list of what the guard lets through (`TOOLCRIB_EGRESS_ALLOW`).

An entry is `host`, `host:port`, `*.suffix` (with or without a port), an address, `address:port`,
`[v6]:port` or a network (`10.0.0.0/8`). What it names may be reached at any address and over
`http://` as well. Only the operator writes it: no definition, document or argument can.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass
from ipaddress import ip_address, ip_network

from toolcrib.errors import InvalidSettings
from toolcrib.net.addresses import Address, Network, plain
from toolcrib.net.hosts import BadHost, canonical_host

SETTING = "TOOLCRIB_EGRESS_ALLOW"
_PORT = re.compile(r"[0-9]{1,5}", re.ASCII)
_FORMS = "Write host, host:port, *.suffix, an address, [v6]:port or a network such as 10.0.0.0/8."


@dataclass(frozen=True, kw_only=True, slots=True)
class AllowList:
    """Exact hosts, suffixes (`.internal`) and networks; a port of None means every port."""

    hosts: frozenset[tuple[str, int | None]] = frozenset()
    suffixes: frozenset[tuple[str, int | None]] = frozenset()
    networks: frozenset[tuple[Network, int | None]] = frozenset()

    @classmethod
    def parse(cls, entries: Iterable[str]) -> AllowList:
        """Raises InvalidSettings that names the entry."""
        hosts: set[tuple[str, int | None]] = set()
        suffixes: set[tuple[str, int | None]] = set()
        networks: set[tuple[Network, int | None]] = set()
        for entry in entries:
            what, port = _read(entry.strip())
            if not isinstance(what, str):
                networks.add((what, port))
            elif what.startswith("."):
                suffixes.add((what, port))
            else:
                hosts.add((what, port))
        return cls(
            hosts=frozenset(hosts), suffixes=frozenset(suffixes), networks=frozenset(networks)
        )

    def names(self, host: str, port: int) -> bool:
        """Whether the host itself is listed, whatever it resolves to."""
        if (host, port) in self.hosts or (host, None) in self.hosts:
            return True
        return any(
            host.endswith(suffix) and wanted in (None, port) for suffix, wanted in self.suffixes
        )

    def covers(self, address: Address, port: int) -> bool:
        """Whether a listed address or network holds this address."""
        if not self.networks:
            return False
        address = plain(address)
        return any(
            wanted in (None, port) and address.version == network.version and address in network
            for network, wanted in self.networks
        )


def _read(entry: str) -> tuple[str | Network, int | None]:
    if "://" in entry:
        raise _bad(entry, "it names a scheme; leave it out")
    if "/" in entry:
        return _network(entry), None
    if entry.count(":") > 1 and not entry.startswith("["):
        return _host(entry, f"[{entry}]"), None
    host, colon, digits = entry.rpartition(":")
    if not colon or entry.endswith("]"):
        return _host(entry, entry), None
    return _host(entry, host), _port(entry, digits)


def _host(entry: str, text: str) -> str | Network:
    try:
        host, address = canonical_host(text.removeprefix("*."))
    except BadHost as bad:
        raise _bad(entry, str(bad)) from None
    if text.startswith("*."):
        if address is not None:
            raise _bad(entry, "a suffix is a name, not an address")
        return f".{host}"
    return host if address is None else ip_network(plain(address))


def _network(entry: str) -> Network:
    try:
        return ip_network(entry)
    except ValueError:
        pass
    try:
        ip_address(entry.partition("/")[0])
        wide = ip_network(entry, strict=False)
    except ValueError:
        raise _bad(entry, "it is neither a network nor a host") from None
    raise _bad(entry, f"it has bits set outside its mask; {str(wide)!r} is the network")


def _port(entry: str, digits: str) -> int:
    port = int(digits) if _PORT.fullmatch(digits) else 0
    if not 1 <= port <= 65535:
        raise _bad(entry, "the port is not a number from 1 to 65535")
    return port


def _bad(entry: str, cause: str) -> InvalidSettings:
    return InvalidSettings(
        f"{SETTING} has an entry that cannot be used, {entry!r}: {cause}.",
        where=SETTING,
        hint=_FORMS,
    )
