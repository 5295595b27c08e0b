"""This module expands keys with dots."""

from __future__ import annotations

from typing import Any

import pytest

from toolcrib.errors import InvalidOptions
from toolcrib.tools.dotted import expand_dotted


@pytest.mark.parametrize(
    ("options", "expanded"),
    [
        ({}, {}),
        ({"url": "x", "a.b": 1}, {"url": "x", "a": {"b": 1}}),
        (
            {"p.q.type": "string", "p.q.required": True},
            {"p": {"q": {"type": "string", "required": True}}},
        ),
        ({"p": {"q": {"type": "x"}}, "p.q.type": "y"}, {"p": {"q": {"type": "y"}}}),
        (
            {"p.q": {"type": "x"}, "p": {"q": {"required": True}}},
            {"p": {"q": {"required": True, "type": "x"}}},
        ),
        ({"p": {"a.b": {"c.d": 1}}}, {"p": {"a.b": {"c.d": 1}}}),
        ({"headers.X-A.B": "1", "headers": {"C.D": "2"}}, {"headers": {"C.D": "2", "X-A.B": "1"}}),
    ],
)
def test_dotted_keys_are_nested_objects(options: dict[str, Any], expanded: dict[str, Any]) -> None:
    """Shared beginnings merge, nested keys stay as they are."""
    before = repr(options)
    assert expand_dotted(options) == expanded
    assert repr(options) == before


@pytest.mark.parametrize(
    ("options", "where"),
    [
        ({"a": 1, "a.b": 2}, "options.a"),
        ({"a.b": 1, "a.b.c": 2}, "options.a.b"),
        ({"a..b": 1}, "options.a..b"),
        ({".a": 1}, "options..a"),
        ({"headers.": 1}, "options.headers."),
    ],
)
def test_a_key_that_runs_into_a_value_is_an_error(options: dict[str, Any], where: str) -> None:
    """The place is the one where it cannot go on."""
    with pytest.raises(InvalidOptions) as caught:
        expand_dotted(options)
    assert caught.value.where == where
