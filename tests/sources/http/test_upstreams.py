"""Which upstream a definition's calls depend on."""

from __future__ import annotations

import pytest

from toolcrib.secrets.placeholders import SECRETS, SETTINGS
from toolcrib.sources.http.slots import read_text
from toolcrib.sources.http.upstreams import upstream_of


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
