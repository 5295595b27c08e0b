"""A resolved value is found and masked in every form it may leave in."""

from __future__ import annotations

import base64
import json
from urllib.parse import quote, quote_plus

import pytest
from hypothesis import given
from hypothesis import strategies as st

from toolcrib.secrets.masking import MASK, MIN_LENGTH, Masker

SECRET = 'p@ss "w/ord"+é\\x'


@pytest.mark.parametrize(
    "form",
    [
        SECRET,
        quote(SECRET, safe=""),
        quote(SECRET),
        quote_plus(SECRET),
        json.dumps(SECRET)[1:-1],
        json.dumps(SECRET, ensure_ascii=False)[1:-1],
        base64.b64encode(SECRET.encode()).decode(),
        base64.urlsafe_b64encode(SECRET.encode()).decode(),
    ],
)
def test_each_form_is_masked(form: str) -> None:
    """Plain, URL-encoded, JSON-escaped and base64 forms are all replaced."""
    masked = Masker([SECRET]).text(f"before {form} after")

    assert masked == f"before {MASK} after"


@given(st.binary(max_size=7), st.text(min_size=12, max_size=30), st.binary(max_size=7))
def test_base64_of_a_longer_text_does_not_give_the_value_away(
    before: bytes, secret: str, after: bytes
) -> None:
    """Inside a longer base64 text only the few characters at the value's edges can stay."""
    raw = secret.encode()
    encoded = base64.b64encode(before + raw + after).decode()

    masked = Masker([secret]).text(encoded)

    assert MASK in masked


def test_short_values_are_not_searched_for() -> None:
    """Masking "id" everywhere would destroy every text."""
    assert Masker(["a" * (MIN_LENGTH - 1)]).text("aaaaaaaa") == "aaaaaaaa"


def test_the_longest_value_goes_first() -> None:
    """A value that contains another is masked whole."""
    assert Masker(["secret", "secret-and-more"]).text("x secret-and-more y") == f"x {MASK} y"


def test_values_inside_json_are_masked_keys_too() -> None:
    """Every string of a structured value is searched."""
    masked = Masker(["topsecret"]).value(
        {"topsecret": ["a topsecret b", 5, None], "n": {"k": "topsecret"}}
    )

    assert masked == {MASK: [f"a {MASK} b", 5, None], "n": {"k": MASK}}


def test_bytes_are_masked() -> None:
    """Files may echo a value as well."""
    assert Masker(["topsecret"]).data(b"\x00topsecret\xff") == b"\x00***\xff"
