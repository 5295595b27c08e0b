"""This module judges where a limited value may go."""

from __future__ import annotations

import pytest

from toolcrib.secrets.binding import BoundValue, hosts_of, may_go_to


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


def test_a_bound_value_is_its_text_and_hides_it() -> None:
    """It can be used like any text; only its repr is silent."""
    value = BoundValue("secret-text", ["api.test"])
    assert value == "secret-text"
    assert f"Bearer {value}" == "Bearer secret-text"
    assert hosts_of(value) == ("api.test",)
    assert hosts_of("plain") == ()
    assert "secret-text" not in repr({"k": value})
