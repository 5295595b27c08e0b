"""Which upstream a definition's calls depend on."""

from __future__ import annotations

import pytest

from toolcrib.secrets.placeholders import SECRETS, SETTINGS
from toolcrib.sources.http.segments import SegmentRules
from toolcrib.sources.http.slots import Values, read_text
from toolcrib.sources.http.upstreams import hidden_host, upstream_of
from toolcrib.sources.http.urls import compile_url


@pytest.mark.parametrize(
    ("url", "expected"),
    [
        ("https://API.example.com/v1/{x}", "https://api.example.com"),
        ("https://a.example:8443?x=1", "https://a.example:8443"),
        ("http://[::1]:90/", "http://[::1]:90"),
        ("https://x.example", "https://x.example"),
        ("${BASE}/x/{y}", "${BASE}"),
        ("https://${HOST}:1/x", "https://${HOST}:1"),
        ("https://{shop}.example.com/x", None),
        ("${BASE}{x}", None),
        ("https://x.example{p}", None),
        ("{url}", None),
        ("https://user:pass@x.example/", None),
    ],
)
def test_the_upstream_is_scheme_host_and_port(url: str, expected: str | None) -> None:
    """Placeholders stay as they are written; a host that arguments choose is nobody's."""
    assert upstream_of(read_text(url, SETTINGS), SETTINGS) == expected


def test_secrets_are_written_as_packages_write_them() -> None:
    """`{{NAME}}`."""
    assert upstream_of(read_text("{{BASE}}/x", SECRETS), SECRETS) == "{{BASE}}"


@pytest.mark.parametrize(
    ("url", "value", "told", "shown"),
    [
        ("${A}/x", "https://Db:81", "'db' and db:81, not dbx", "'***' and ***, not dbx"),
        ("${A}/x", "https://a.example", "A.example:443 is 10.0.0.9", "*** is ***"),
        ("${A}/x", "https://[fd00::1]:7", "[fd00::1]:7, fd00::1", "***, ***"),
        ("https://${A}.b.example/", "a", "a.b.example:1.", "***."),
        ("https://{s}.${A}/", "b.example", "x.b.example:1", "x.***"),
        ("https://a.${A}.{s}.c/", "b", "a.b.x.c", "***.x.***"),
        ("https://a.example:${A}/", "81", "a.example:81", "***"),
        ("https://a.example/${A}", "b", "a.example:81 is 10.0.0.9", "a.example:81 is 10.0.0.9"),
        ("${A}/x", "https://b.example", "at 12:30:45, not a.example", "at 12:30:45, not a.example"),
    ],
)
def test_a_host_that_is_stored_is_not_told(url: str, value: str, told: str, shown: str) -> None:
    """Nor what stands behind it, nor any address; other words stay."""
    read = read_text(url, SETTINGS)
    placed = Values({"A": value}, SETTINGS).place(read, "url")
    plan = compile_url(placed, SegmentRules(), where="url")
    assert hidden_host(read, plan.host).text(told) == shown
