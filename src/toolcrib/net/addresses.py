"""This module says which IP addresses the guard refuses, and in which words.

An IPv6 address that carries an IPv4 address (mapped, translated, NAT64, 6to4, Teredo, ISATAP) is
judged by the IPv4 address inside it; beyond those only global unicast (2000::/3) passes.
Sources: the IANA special-purpose address registries (RFC 6890 and its updates).
"""

from __future__ import annotations

from functools import lru_cache
from ipaddress import (
    IPv4Address,
    IPv4Network,
    IPv6Address,
    IPv6Network,
    ip_address,
    ip_network,
)

Address = IPv4Address | IPv6Address
Network = IPv4Network | IPv6Network

_METADATA = frozenset(
    ip_address(text)
    for text in (
        "169.254.169.254",  # most clouds
        "169.254.170.2",  # container credentials
        "169.254.170.23",
        "168.63.129.16",  # a public address that is the host's own agent
        "100.100.100.200",
        "192.0.0.192",
        "fd00:ec2::254",
        "fd00:ec2::23",
        "fd20:ce::254",
    )
)

_RANGES: tuple[tuple[Network, str], ...] = tuple(
    (ip_network(text), words)
    for text, words in (
        ("0.0.0.0/8", "an unspecified address"),
        ("10.0.0.0/8", "a private address"),
        ("100.64.0.0/10", "a shared (carrier-grade NAT) address"),
        ("127.0.0.0/8", "a loopback address"),
        ("169.254.0.0/16", "a link-local address"),
        ("172.16.0.0/12", "a private address"),
        ("192.0.0.0/24", "a reserved address"),
        ("192.0.2.0/24", "a documentation address"),
        ("192.31.196.0/24", "a reserved address"),
        ("192.52.193.0/24", "a reserved address"),
        ("192.88.99.0/24", "a reserved address"),
        ("192.168.0.0/16", "a private address"),
        ("192.175.48.0/24", "a reserved address"),
        ("198.18.0.0/15", "a benchmarking address"),
        ("198.51.100.0/24", "a documentation address"),
        ("203.0.113.0/24", "a documentation address"),
        ("224.0.0.0/4", "a multicast address"),
        ("255.255.255.255/32", "a broadcast address"),
        ("240.0.0.0/4", "a reserved address"),
        ("::/128", "an unspecified address"),
        ("::1/128", "a loopback address"),
        ("64:ff9b:1::/48", "a private address"),
        ("100::/64", "a reserved address"),
        ("2001::/23", "a reserved address"),
        ("2001:db8::/32", "a documentation address"),
        ("2620:4f:8000::/48", "a reserved address"),
        ("3fff::/20", "a documentation address"),
        ("fc00::/7", "a private address"),
        ("fe80::/10", "a link-local address"),
        ("fec0::/10", "a site-local address"),
        ("ff00::/8", "a multicast address"),
    )
)

_GLOBAL_UNICAST = IPv6Network("2000::/3")
_NAT64 = IPv6Network("64:ff9b::/96")
_TRANSLATED = IPv6Network("::ffff:0:0:0/96")
_ISATAP = frozenset((0x0000_5EFE, 0x0200_5EFE))


@lru_cache(maxsize=4096)
def refusal(address: Address) -> str | None:
    """Why nothing may connect to this address (`a private address`); None when it is public."""
    if address in _METADATA:
        return "a cloud metadata address"
    if isinstance(address, IPv6Address):
        carried = _carried(address)
        if carried is not None and (reason := refusal(carried)) is not None:
            return f"{reason} inside an IPv6 address"
        if address.ipv4_mapped or address in _NAT64 or address in _TRANSLATED:
            return None
    for network, words in _RANGES:
        if address.version == network.version and address in network:
            return words
    if isinstance(address, IPv6Address) and address not in _GLOBAL_UNICAST:
        return "a reserved address"
    return None


def plain(address: Address) -> Address:
    """The IPv4 address that an IPv4-mapped address is on the wire; any other as it is."""
    mapped = address.ipv4_mapped if isinstance(address, IPv6Address) else None
    return mapped or address


def _carried(address: IPv6Address) -> IPv4Address | None:
    """The IPv4 address inside an IPv6 address, where a kind of tunnel or translation puts one."""
    if mapped := address.ipv4_mapped:
        return mapped
    if sixtofour := address.sixtofour:
        return sixtofour
    if teredo := address.teredo:
        return teredo[1]
    number = int(address)
    tail = number & 0xFFFF_FFFF
    isatap = (number >> 32) & 0xFFFF_FFFF in _ISATAP
    if isatap or address in _NAT64 or address in _TRANSLATED:
        return IPv4Address(tail)
    return None
