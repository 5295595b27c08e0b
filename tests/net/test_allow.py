"""This module checks how the operator's list is read."""

from __future__ import annotations

from ipaddress import ip_address

import pytest

from toolcrib.errors import InvalidSettings
from toolcrib.net.allow import AllowList


@pytest.mark.parametrize(
    ("entry", "host", "port", "named"),
    [
        ("kb.internal", "kb.internal", 443, True),
        ("kb.internal", "kb.internal", 8080, True),
        ("KB.internal.", "kb.internal", 8080, True),
        ("kb.internal:8080", "kb.internal", 8080, True),
        ("kb.internal:8080", "kb.internal", 8081, False),
        ("kb.internal", "a.kb.internal", 443, False),
        ("*.internal", "kb.internal", 443, True),
        ("*.internal", "a.kb.internal", 443, True),
        ("*.internal", "internal", 443, False),
        ("*.internal", "evilinternal", 443, False),
        ("*.internal:8080", "kb.internal", 443, False),
        ("10.0.0.0/8", "10.0.0.1", 443, False),
    ],
)
def test_names_match_exactly_or_below_a_suffix(
    entry: str, host: str, port: int, named: bool
) -> None:
    """A name covers itself, a suffix what is below it, a port only that port."""
    assert named == AllowList.parse([entry]).names(host, port)


@pytest.mark.parametrize(
    ("entry", "address", "port", "covered"),
    [
        ("10.0.0.0/8", "10.1.2.3", 443, True),
        ("10.0.0.0/8", "11.1.2.3", 443, False),
        ("127.0.0.1", "127.0.0.1", 1, True),
        ("127.0.0.1:80", "127.0.0.1", 80, True),
        ("127.0.0.1:80", "127.0.0.1", 81, False),
        ("127.0.0.1:80", "::ffff:127.0.0.1", 80, True),
        ("::1", "::1", 80, True),
        ("[::1]", "::1", 80, True),
        ("[::1]:80", "::1", 81, False),
        ("fd00::/8", "fd12::1", 443, True),
        ("kb.internal", "10.0.0.1", 443, False),
    ],
)
def test_networks_cover_addresses(entry: str, address: str, port: int, covered: bool) -> None:
    """An address is one network; a mapped address is the IPv4 address that it maps."""
    assert covered == AllowList.parse([entry]).covers(ip_address(address), port)


@pytest.mark.parametrize(
    ("entry", "cause"),
    [
        ("http://kb.internal", "it names a scheme; leave it out"),
        ("kb.internal/path", "it is neither a network nor a host"),
        ("10.0.0.1/8", "it has bits set outside its mask; '10.0.0.0/8' is the network"),
        ("kb.internal:0", "the port is not a number from 1 to 65535"),
        ("kb.internal:65536", "the port is not a number from 1 to 65535"),
        ("kb.internal:http", "the port is not a number from 1 to 65535"),
        ("127.1", "it is a number that could mean several addresses"),
        ("kb internal", "it is not a host name"),
        ("*", "it is not a host name"),
        ("*.127.0.0.1", "a suffix is a name, not an address"),
        ("", "it is empty"),
    ],
)
def test_a_bad_entry_is_named_with_its_cause(entry: str, cause: str) -> None:
    """The operator reads which entry, why, and what to write."""
    with pytest.raises(InvalidSettings) as raised:
        AllowList.parse(["good.example", entry])
    assert (
        f"TOOLCRIB_EGRESS_ALLOW has an entry that cannot be used, {entry!r}: {cause}."
        == raised.value.message
    )
    assert "Write host, host:port" in str(raised.value)
