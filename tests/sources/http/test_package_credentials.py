"""Credentials that an author wrote out: found by name and by shape, and never repeated."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from toolcrib.sources.http.package_credentials import find_credentials


def places(**config: Any) -> list[str]:
    return [finding.where for finding in find_credentials({"slug": "x", "config": config})]


@pytest.mark.parametrize(
    ("config", "where"),
    [
        ({"headers": {"Authorization": "Bearer abc"}}, "config.headers.Authorization"),
        ({"headers": {"X-Api-Key": "abc"}}, "config.headers.X-Api-Key"),
        ({"headers": {"Cookie": "session=abc"}}, "config.headers.Cookie"),
        ({"url": "https://x.example/?api_key=abc"}, "config.url"),
        ({"url": "https://x.example?access_token=abc#f"}, "config.url"),
        ({"url": "https://me:abc@x.example/"}, "config.url"),
        ({"static_body": {"auth": {"password": "abc"}}}, "config.static_body.auth.password"),
        ({"body_template": [{"client_secret": "a"}]}, "config.body_template[0].client_secret"),
        ({"env": {"GITHUB_TOKEN": "abc"}}, "config.env.GITHUB_TOKEN"),
        ({"args": ["--verbose", "--api-key", "abc"]}, "config.args[2]"),
        ({"args": ["--token=abc"]}, "config.args[0]"),
        ({"headers": {"X-Any": "sk-0123456789abcdefghij"}}, "config.headers.X-Any"),
        ({"body_template": "key=ghp_0123456789abcdefghij"}, "config.body_template"),
    ],
)
def test_what_is_written_out_is_found(config: dict[str, Any], where: str) -> None:
    """With its place, once."""
    assert places(**config) == [where]


@pytest.mark.parametrize(
    "config",
    [
        {"headers": {"Authorization": "Bearer {{TOKEN}}", "Accept": "application/json"}},
        {"headers": {"X-API-Key": ""}},
        {"url": "https://{{HOST}}/?api_key={{KEY}}&q=token"},
        {"url": "https://x.example/{token}?page_token={page}"},
        {"static_body": {"max_tokens": 5, "tokenizer": "plain", "token": "{{TOKEN}}"}},
        {"body_template": {"password": "{password}", "secret": 5}},
        {"env": {"TOKEN": "{{TOKEN}}", "PATH": "/bin"}},
        {"args": ["--token", "{{TOKEN}}", "--token-file", "x"]},
        {"args": ["--token"]},
        {"headers": ["Authorization: abc"], "args": "--token abc", "env": 5, "url": None},
    ],
)
def test_what_is_no_credential_is_left_alone(config: dict[str, Any]) -> None:
    """Names of secrets, arguments of the model, words that only look alike, wrong forms."""
    assert places(**config) == []


def test_other_fields_are_looked_at_for_tokens() -> None:
    """A token in a description is a leak, too."""
    package = {"description": "Use ghp_0123456789abcdefghij", "config": {}}
    assert [finding.where for finding in find_credentials(package)] == ["description"]


@given(st.text(st.characters(codec="utf-8"), min_size=3))
def test_a_value_is_never_repeated(value: str) -> None:
    """What is said has the place and the name, whatever the value."""
    marked = f"hidden-{value}-hidden"
    package = {"config": {"headers": {"Authorization": marked}, "url": f"https://a:{marked}@b"}}
    assert [one.message for one in find_credentials(package) if "hidden-" in one.message] == []
