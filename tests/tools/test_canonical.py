"""The canonical form: equal bytes for equal JSON values, other bytes for all others."""

from __future__ import annotations

import hashlib
import json
import unicodedata
from types import MappingProxyType
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from toolcrib.tools.canonical import canonical_json, digest

TEXTS = st.text(st.characters(exclude_categories=()), max_size=8)
NUMBERS = st.integers() | st.floats(allow_nan=False, allow_infinity=False)
SCALARS = st.none() | st.booleans() | NUMBERS | TEXTS
VALUES = st.recursive(
    SCALARS,
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(TEXTS, inner, max_size=4),
    max_leaves=12,
)


def typed(value: Any) -> Any:
    """A value that Python's == compares as JSON does: `true` is not 1, order of keys is nothing."""
    if isinstance(value, bool) or value is None:
        return ("constant", value)
    if isinstance(value, int | float):
        return ("number", value)
    if isinstance(value, str):
        return ("text", value)
    if isinstance(value, dict):
        return ("object", frozenset((key, typed(one)) for key, one in value.items()))
    return ("array", tuple(typed(one) for one in value))


@given(VALUES, VALUES)
def test_equal_bytes_exactly_for_equal_values(one: Any, other: Any) -> None:
    assert (canonical_json(one) == canonical_json(other)) == (typed(one) == typed(other))


@given(VALUES)
def test_it_says_the_same_when_read_again(value: Any) -> None:
    """The form is JSON, keeps the value, and of its own form makes itself."""
    written = canonical_json(value).decode("utf-8", "surrogatepass")

    assert typed(json.loads(written)) == typed(value)
    assert canonical_json(json.loads(written)) == canonical_json(value)


@given(st.dictionaries(TEXTS, SCALARS, max_size=6))
def test_order_of_keys_is_nothing(value: dict[str, Any]) -> None:
    turned = dict(reversed(value.items()))
    assert canonical_json(turned) == canonical_json(value)
    assert canonical_json(MappingProxyType(value)) == canonical_json(value)


@given(TEXTS)
def test_look_alikes_stay_apart(text: str) -> None:
    """Text is never normalised."""
    for form in ("NFC", "NFD", "NFKC", "NFKD"):
        other = unicodedata.normalize(form, text)
        assert (canonical_json(other) == canonical_json(text)) == (other == text)


@pytest.mark.parametrize(
    ("value", "written"),
    [
        ({"b": 1, "a": [True, None, 1.0, -0.0, 1e2]}, '{"a":[true,null,1,0,100],"b":1}'),
        (0.1, "0.1"),
        (2**63, "9223372036854775808"),
        ('\u20ac\n\x0f"\\/', '"\u20ac\\n\\u000f\\"\\\\/"'),
        # RFC 8785 orders keys by UTF-16 units: an astral character stands before U+FB33.
        ({"\ufb33": 1, "\U0001f600": 2, "z": 3}, '{"z":3,"\U0001f600":2,"\ufb33":1}'),
    ],
)
def test_the_form(value: Any, written: str) -> None:
    assert canonical_json(value) == written.encode()
    assert digest(value) == f"sha256:{hashlib.sha256(written.encode()).hexdigest()}"


@pytest.mark.parametrize("value", [{1: 2}, {"a": object()}, [b"x"], {"a": {2}}])
def test_what_is_no_json_is_refused(value: Any) -> None:
    with pytest.raises(TypeError):
        canonical_json(value)
