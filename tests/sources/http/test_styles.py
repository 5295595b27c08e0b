"""This module writes arguments in every style of OpenAPI, with values that need encoding."""

from __future__ import annotations

from typing import Any
from urllib.parse import parse_qsl

import pytest
from hypothesis import given
from hypothesis import strategies as st

from toolcrib.sources.http.styles import (
    QueryWriter,
    deep_object,
    delimited,
    form,
    header_text,
    json_field,
    path_writer,
    plain,
)

LIST = ["g", "b,c"]
OBJECT = {"x": 1, "y": "a&b", "none": None}


@pytest.mark.parametrize(
    ("write", "value", "text"),
    [
        (plain("v", "n"), LIST, "n=g&n=b%2Cc"),
        (plain("v", "a[b]"), "x y", "a%5Bb%5D=x%20y"),
        (plain("v", "n"), {"k": "v"}, "n=%7B%22k%22%3A%22v%22%7D"),
        (plain("v", "n"), "", "n="),
        (plain("v", "n", drop_empty=True), "", ""),
        (plain("v", "n", drop_empty=True), 0, "n=0"),
        (form("v", "ids"), [1, 2], "ids=1&ids=2"),
        (form("v", "tags", explode=False), LIST, "tags=g,b%2Cc"),
        (form("v", "o"), OBJECT, "x=1&y=a%26b"),
        (form("v", "o", explode=False), OBJECT, "o=x,1,y,a%26b"),
        (form("v", "n"), True, "n=true"),
        (form("v", "n", reserved=True), "a/b?c&d=e#f+g h", "n=a/b?c%26d%3De%23f%2Bg%20h"),
        (delimited("v", "s", " "), ["1", "2"], "s=1%202"),
        (delimited("v", "p", "|"), ["1", "2|3"], "p=1%7C2%7C3"),
        (delimited("v", "p", "|"), "one", "p=one"),
        (delimited("v", "p", "|"), {"a": 1}, "p=a%7C1"),
        (deep_object("v", "filter"), {"eq": "a&b"}, "filter%5Beq%5D=a%26b"),
        (deep_object("v", "a"), {"b": {"c": 1}, "n": None}, "a%5Bb%5D%5Bc%5D=1"),
        (deep_object("v", "f"), {"in": ["1", "2"]}, "f%5Bin%5D=1&f%5Bin%5D=2"),
        (deep_object("v", "f"), {"in": [{"k": 1}]}, "f%5Bin%5D=%7B%22k%22%3A1%7D"),
        (json_field("v", "j"), {"k": "v"}, "j=%7B%22k%22%3A%22v%22%7D"),
        (json_field("v", "j"), [], "j=%5B%5D"),
    ],
)
def test_query_styles(write: QueryWriter, value: Any, text: str) -> None:
    """Each style as its specification shows it, names and values encoded each for itself."""
    assert write({"v": value}) == text


EVERY = [
    plain("v", "n"),
    form("v", "n"),
    form("v", "n", explode=False),
    delimited("v", "n", "|"),
    deep_object("v", "n"),
    json_field("v", "n"),
]


@pytest.mark.parametrize("write", EVERY)
def test_nothing_is_sent_for_nothing(write: QueryWriter) -> None:
    """An absent or null argument leaves no trace; neither does an empty list."""
    assert write({}) == ""
    assert write({"v": None}) == ""


@pytest.mark.parametrize("write", EVERY[:5])
def test_an_empty_list_sends_nothing(write: QueryWriter) -> None:
    """There is no empty array in a query string."""
    assert write({"v": []}) == ""


@pytest.mark.parametrize(
    ("style", "explode", "value", "text"),
    [
        ("simple", False, "a/b", "a%2Fb"),
        ("simple", False, [1, "b,c"], "1,b%2Cc"),
        ("simple", True, {"x": 1, "y": "/"}, "x=1,y=%2F"),
        ("simple", False, {"x": 1, "y": 2}, "x,1,y,2"),
        ("label", False, 5, ".5"),
        ("label", True, ["a", "b"], ".a.b"),
        ("label", False, ["a", "b"], ".a,b"),
        ("label", True, {"x": 1}, ".x=1"),
        ("matrix", False, 5, ";id=5"),
        ("matrix", False, [1, 2], ";id=1,2"),
        ("matrix", True, [1, 2], ";id=1;id=2"),
        ("matrix", False, {"x": 1, "y": 2}, ";id=x,1,y,2"),
        ("matrix", True, {"x": 1, "y": 2}, ";x=1;y=2"),
    ],
)
def test_path_styles(style: Any, explode: bool, value: Any, text: str) -> None:
    """simple, label and matrix; no value holds a slash."""
    assert path_writer(style, "id", explode=explode)(value) == text


def test_header_style() -> None:
    """simple, as plain text."""
    assert header_text([1, "b"]) == "1,b"
    assert header_text({"x": 1, "y": True}) == "x,1,y,true"
    assert header_text({"x": 1, "y": True}, explode=True) == "x=1,y=true"
    assert header_text(False) == "false"


@given(st.text(), st.text(), st.lists(st.text()))
def test_no_value_adds_a_field(key: str, text: str, items: list[str]) -> None:
    """Whatever names and values hold, the query parses back to exactly these pairs."""
    query = "&".join(
        part
        for part in (
            plain("t", "a")({"t": text}),
            form("l", "b")({"l": items}),
            deep_object("o", "c")({"o": {key: text}}),
            delimited("l", "d", "|")({"l": items}),
        )
        if part
    )
    pairs = parse_qsl(query, keep_blank_values=True)
    expected = [("a", text), *(("b", item) for item in items), (f"c[{key}]", text)]
    assert pairs == [*expected, *([("d", "|".join(items))] if items else [])]
