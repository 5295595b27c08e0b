"""This module reads JSON that people wrote wrong, and finds the place."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from toolcrib.errors import InvalidRequest
from toolcrib.tools.strict_json import read_strict_json

json_values = st.recursive(
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats(allow_nan=False, allow_infinity=False)
    | st.text(),
    lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner),
)


@given(json_values, st.sampled_from([None, 1]))
def test_good_json_reads_as_everywhere(value: Any, indent: int | None) -> None:
    """What is strict JSON is read like by any other reader, from text and from bytes."""
    text = json.dumps(value, indent=indent)
    assert read_strict_json(text) == value
    assert read_strict_json(b"\xef\xbb\xbf" + text.encode()) == value


@pytest.mark.parametrize(
    ("text", "where", "words"),
    [
        ('{"a": 1, "a": 2}', "line 1, column 10", "'a' appears twice"),
        ('{\n "x": {"b": [1],\n  "b": 2}\n}', "line 3, column 3", "'b' appears twice"),
        (
            '{"a": {"a": 1}, "b": [{"a": 1}, {"a": 2, "c": 0, "\\u0061": 3}]}',
            "line 1, column 50",
            "'a'",
        ),
        ('{"a": "b", "b": "a", "x": [1, "a", "a"], "b": 1}', "line 1, column 42", "'b'"),
        ('{"a": NaN}', "line 1, column 7", "NaN is not a JSON number"),
        ('["NaN", -Infinity]', "line 1, column 9", "-Infinity is not"),
        ('{"a": 1e999}', "line 1, column 7", "out of range"),
        ('{"a": 1} {"b": 2}', "line 1, column 10", "extra data"),
        ("{'a': 1}", "line 1, column 2", "property name"),
        ("", "line 1, column 1", "expecting value"),
        ('{"a": 1', "line 1, column 8", "delimiter"),
        ('{"a": "x\ny"}', "line 1, column 9", "control character"),
    ],
)
def test_what_is_not_strict_is_refused_with_its_place(text: str, where: str, words: str) -> None:
    """Line and column of the culprit, and what is wrong with it."""
    with pytest.raises(InvalidRequest) as caught:
        read_strict_json(text)
    assert caught.value.where == where
    assert words.lower() in caught.value.message.lower()


@pytest.mark.parametrize(
    "data",
    [
        '{"a": 1,}',
        b"\xff{}",
        '"\\ud800"',
        "[" * 100_000,
        "9" * 5000,
        '{"a":' * 5000 + "1" + "}" * 5000,
    ],
)
def test_hostile_text_is_an_error_like_any_other(data: str | bytes) -> None:
    """Bytes that are no text, half characters, endless nesting and numbers end in one error."""
    with pytest.raises(InvalidRequest, match="Not "):
        read_strict_json(data)


@given(st.text(alphabet='{}[]",:aN1\\ \n', max_size=30))
def test_any_text_is_read_or_refused(text: str) -> None:
    """No other exception, and nothing that the standard reader refuses is read."""
    try:
        value = read_strict_json(text)
    except InvalidRequest:
        return
    assert json.loads(text) == value
