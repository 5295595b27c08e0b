"""This module checks which addresses are refused, and in which words."""

from __future__ import annotations

from ipaddress import IPv4Address, IPv6Address, ip_address

import pytest
from hypothesis import given
from hypothesis import strategies as st

from toolcrib.net.addresses import plain, refusal

REFUSED = [
    ("0.0.0.0", "an unspecified address"),  # noqa: S104  # an address to refuse, not to bind
    ("0.1.2.3", "an unspecified address"),
    ("10.1.2.3", "a private address"),
    ("100.64.0.1", "a shared (carrier-grade NAT) address"),
    ("100.127.255.255", "a shared (carrier-grade NAT) address"),
    ("127.0.0.1", "a loopback address"),
    ("127.255.255.254", "a loopback address"),
    ("169.254.1.1", "a link-local address"),
    ("169.254.169.254", "a cloud metadata address"),
    ("100.100.100.200", "a cloud metadata address"),
    ("168.63.129.16", "a cloud metadata address"),
    ("fd00:ec2::254", "a cloud metadata address"),
    ("172.16.0.1", "a private address"),
    ("172.31.255.255", "a private address"),
    ("192.0.0.1", "a reserved address"),
    ("192.0.2.1", "a documentation address"),
    ("192.88.99.1", "a reserved address"),
    ("192.168.1.1", "a private address"),
    ("198.18.0.1", "a benchmarking address"),
    ("198.19.255.255", "a benchmarking address"),
    ("198.51.100.1", "a documentation address"),
    ("203.0.113.1", "a documentation address"),
    ("224.0.0.1", "a multicast address"),
    ("240.0.0.1", "a reserved address"),
    ("255.255.255.255", "a broadcast address"),
    ("::", "an unspecified address"),
    ("::1", "a loopback address"),
    ("::127.0.0.1", "a reserved address"),
    ("100::1", "a reserved address"),
    ("2001:db8::1", "a documentation address"),
    ("3fff::1", "a documentation address"),
    ("4000::1", "a reserved address"),
    ("fc00::1", "a private address"),
    ("fe80::1", "a link-local address"),
    ("fec0::1", "a site-local address"),
    ("ff02::1", "a multicast address"),
    ("64:ff9b:1::808:808", "a private address"),
    ("::ffff:127.0.0.1", "a loopback address inside an IPv6 address"),
    ("::ffff:169.254.169.254", "a cloud metadata address inside an IPv6 address"),
    ("::ffff:0:10.0.0.1", "a private address inside an IPv6 address"),
    ("64:ff9b::7f00:1", "a loopback address inside an IPv6 address"),
    ("2002:7f00:1::", "a loopback address inside an IPv6 address"),
    ("2002:a00:1::1", "a private address inside an IPv6 address"),
    ("2001:0:4136:e378:8000:63bf:80ff:fffe", "a loopback address inside an IPv6 address"),
    ("2a00:1450::5efe:7f00:1", "a loopback address inside an IPv6 address"),
]

PUBLIC = [
    "8.8.8.8",
    "93.184.216.34",
    "100.63.255.255",
    "100.128.0.1",
    "172.15.255.255",
    "172.32.0.1",
    "223.255.255.255",
    "2606:4700::1111",
    "2a00:1450:4001::1",
    "::ffff:8.8.8.8",
    "64:ff9b::808:808",
    "2002:808:808::1",
]


@pytest.mark.parametrize(("text", "words"), REFUSED)
def test_every_special_range_is_refused_in_words(text: str, words: str) -> None:
    """Each range that is not the public internet has its reason."""
    assert words == refusal(ip_address(text))


@pytest.mark.parametrize("text", PUBLIC)
def test_public_addresses_pass(text: str) -> None:
    """Neighbours of the refused ranges, and carriers of public addresses, are no reason."""
    assert None is refusal(ip_address(text))


@given(st.integers(0, 2**32 - 1).map(IPv4Address))
def test_what_python_calls_not_global_never_passes(address: IPv4Address) -> None:
    """The table is at least as strict as the standard library's."""
    if not address.is_global or address.is_multicast:
        assert refusal(address) is not None


@given(st.integers(0, 2**32 - 1))
def test_a_carried_address_passes_only_if_it_would_alone(number: int) -> None:
    """Mapped, translated, NAT64 and 6to4 forms are judged by the IPv4 address inside."""
    inside = IPv4Address(number)
    forms = [
        IPv6Address((0xFFFF << 32) | number),
        IPv6Address((0xFFFF << 48) | number),
        IPv6Address((0x0064_FF9B << 96) | number),
        IPv6Address((0x2002 << 112) | (number << 80)),
    ]
    alone = refusal(inside) is None
    assert [alone] * 4 == [refusal(form) is None for form in forms]


def test_a_mapped_address_is_the_ipv4_address_on_the_wire() -> None:
    """Only mapped addresses change; others stay what they are."""
    assert IPv4Address("127.0.0.1") == plain(ip_address("::ffff:127.0.0.1"))
    assert IPv6Address("64:ff9b::7f00:1") == plain(ip_address("64:ff9b::7f00:1"))
