"""This module checks that a host has one canonical form or none."""

from __future__ import annotations

from ipaddress import IPv4Address, IPv6Address, ip_address

import pytest
from hypothesis import given
from hypothesis import strategies as st

from toolcrib.net.hosts import BadHost, canonical_host


@pytest.mark.parametrize(
    ("text", "host"),
    [
        ("Example.COM", "example.com"),
        ("example.com.", "example.com"),
        ("my_service", "my_service"),
        ("bücher.example", "xn--bcher-kva.example"),
        ("ｅｘａｍｐｌｅ.com", "example.com"),
        ("a.b-c.d", "a.b-c.d"),
    ],
)
def test_names_become_lower_case_ascii(text: str, host: str) -> None:
    """Case, a final dot, full-width letters and international names have one form."""
    assert (host, None) == canonical_host(text)


@pytest.mark.parametrize(
    ("text", "address"),
    [
        ("127.0.0.1", "127.0.0.1"),
        ("127.0.0.1.", "127.0.0.1"),
        ("①②⑦.⓪.⓪.①", "127.0.0.1"),
        ("１２７.０.０.１", "127.0.0.1"),
        ("127。0。0。1", "127.0.0.1"),
        ("[::1]", "::1"),
        ("[0:0:0:0:0:0:0:1]", "::1"),
        ("[::FFFF:127.0.0.1]", "::ffff:7f00:1"),
    ],
)
def test_literals_become_addresses(text: str, address: str) -> None:
    """Whatever digits they are written in, addresses are known as addresses."""
    assert ip_address(address) == canonical_host(text)[1]


@pytest.mark.parametrize(
    "text",
    [
        "2130706433",
        "0x7f000001",
        "0x7f.0.0.1",
        "0177.0.0.1",
        "127.1",
        "127.0.1",
        "0",
        "1.2.3.4.5",
        "256.1.1.1",
        "example.0x",
        "①27.1",
        "",
        ".",
        "..",
        "a..b",
        "-a.example",
        "a-.example",
        "a b",
        "a%2eb",
        "a/b",
        "a／b",
        "a@b",
        "e\u200bvil.example",
        "::1",
        "[::1",
        "[]",
        "[fe80::1%eth0]",
        "[127.0.0.1]",
        f"{'a' * 64}.example",
        ".".join(["abcdefgh"] * 30),
    ],
)
def test_what_resolvers_read_differently_is_refused(text: str) -> None:
    """Odd numbers, empty labels, delimiters, zones and overlong names are no hosts."""
    with pytest.raises(BadHost):
        canonical_host(text)


@given(st.text(max_size=40))
def test_a_canonical_host_is_its_own_canonical_form(text: str) -> None:
    """Reading twice changes nothing, and only plain characters ever come out."""
    try:
        host, address = canonical_host(text)
    except BadHost:
        return
    assert set(host) <= set("abcdefghijklmnopqrstuvwxyz0123456789-_.:")
    again = f"[{host}]" if isinstance(address, IPv6Address) else host
    assert (host, address) == canonical_host(again)


@given(st.integers(0, 2**32 - 1), st.sampled_from(["{:d}", "0x{:x}", "0{:o}", "0X{:X}"]))
def test_no_number_is_ever_a_name(number: int, form: str) -> None:
    """A whole address in one number, in any base, is refused."""
    with pytest.raises(BadHost):
        canonical_host(form.format(number))


@given(st.integers(0, 2**32 - 1))
def test_dotted_quads_are_that_address(number: int) -> None:
    """The canonical form of an IPv4 address is always taken as that address."""
    address = IPv4Address(number)
    assert (str(address), address) == canonical_host(str(address))
