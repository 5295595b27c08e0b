"""This module judges where a limited value may go."""

from __future__ import annotations

import pytest

from toolcrib.secrets.binding import BoundValue, hosts_of, may_go_to, wrong_with


@pytest.mark.parametrize(
    ("hosts", "host", "port", "allowed"),
    [
        ([], "any.test", 443, True),
        (["api.test"], "api.test", 443, True),
        (["api.test"], "API.test.", 8443, True),
        (["Api.Test"], "api.test", 443, True),
        (["api.test"], "evil-api.test", 443, False),
        (["api.test"], "api.test.evil", 443, False),
        (["api.test:8443"], "api.test", 8443, True),
        (["api.test:8443"], "api.test", 443, False),
        (["*.corp.test"], "a.corp.test", 443, True),
        (["*.corp.test"], "a.b.corp.test", 443, True),
        (["*.corp.test"], "corp.test", 443, False),
        (["*.corp.test"], "evilcorp.test", 443, False),
        (["*.corp.test:8443"], "a.corp.test", 443, False),
        (["10.0.0.5"], "10.0.0.5", 443, True),
        (["[2001:db8::1]:8443"], "2001:db8::1", 8443, True),
        (["[2001:db8::1]:8443"], "2001:db8::1", 443, False),
        (["2001:db8::1"], "2001:db8::1", 443, True),
        (["[2001:DB8:0::1]"], "2001:db8::1", 443, True),
        (["a.test", "b.test"], "b.test", 443, True),
        ([""], "b.test", 443, False),
        (["*"], "b.test", 443, False),
    ],
)
def test_hosts_are_exact_or_below_a_domain(
    hosts: list[str], host: str, port: int, allowed: bool
) -> None:
    """Nothing that only looks like a listed host is one."""
    assert may_go_to(hosts, host, port) is allowed


@pytest.mark.parametrize(
    "entry",
    [
        *("api.test", "API.test.", "api.test:1", "api.test:65535", "localhost", "_dmarc.test"),
        *("*.corp.test", "*.corp.test:8443", "xn--mnchen-3ya.test", "10.0.0.5", "10.0.0.5:9"),
        *("[::1]", "[::1]:443", "2001:db8::1"),
    ],
)
def test_what_can_be_a_place(entry: str) -> None:
    """Hosts, what is below a domain, and addresses, with a port or without."""
    assert wrong_with(entry) is None


@pytest.mark.parametrize(
    ("entry", "cause"),
    [
        ("127.0.0.1:99999", "its port '99999' is not a number from 1 to 65535"),
        ("127.0.0.1:65536", "its port '65536' is not a number from 1 to 65535"),
        ("api.test:0", "its port '0' is not a number from 1 to 65535"),
        ("*.corp.test:70000", "its port '70000' is not a number from 1 to 65535"),
        ("[::1]:99999", "its port '99999' is not a number from 1 to 65535"),
        ("api.test:", "its port '' is not a number from 1 to 65535"),
        ("api.test:https", "its port 'https' is not a number from 1 to 65535"),
        ("api.test:-1", "its port '-1' is not a number from 1 to 65535"),
        ("api.test:４４３", "its port '４４３' is not a number from 1 to 65535"),
        ("api.test:443:443", "it is not a host"),
        *((bad, "it is not a host") for bad in ("", "*", "*.", "a b", "a..b", "-a.test", "a/b")),
        *(
            (bad, "it is not a host")
            for bad in ("https://a.test", "u@a.test", "[::1", "[x]", "::g")
        ),
        *((bad, "it is not a host") for bad in ("999.1.1.1", "127.1", "*.10.0.0.1", "a*.test")),
        *((bad, "it is not a host") for bad in ("a" * 64, "a\n", "*.[::1]", "fe80::1%eth0")),
    ],
)
def test_what_can_be_no_place(entry: str, cause: str) -> None:
    """A limit that no connection could meet is refused when it is stored, with its cause."""
    assert wrong_with(entry) == cause


def test_a_bound_value_is_its_text_and_hides_it() -> None:
    """It can be used like any text; only its repr is silent."""
    value = BoundValue("secret-text", ["api.test"])
    assert value == "secret-text"
    assert f"Bearer {value}" == "Bearer secret-text"
    assert hosts_of(value) == ("api.test",)
    assert hosts_of("plain") == ()
    assert "secret-text" not in repr({"k": value})
