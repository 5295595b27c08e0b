"""This module reads placeholders of both languages, in texts and in whole definitions."""

from __future__ import annotations

import re
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from toolcrib.errors import InvalidOptions, SecretMissing, UnresolvedPlaceholderError
from toolcrib.secrets.placeholders import (
    PLACEHOLDER_RE,
    SECRETS,
    SETTINGS,
    Placeholder,
    Template,
    fill,
    needs,
)

names = st.from_regex(r"\A[A-Z][A-Z0-9_]{0,8}\Z")
noise = st.text(alphabet="${}AB_a1 -\\", max_size=12)


@pytest.mark.parametrize(
    ("text", "pieces"),
    [
        ("", ()),
        ("plain", ("plain",)),
        ("${A}", (Placeholder("A"),)),
        ("x${A}y${b_2}", ("x", Placeholder("A"), "y", Placeholder("b_2"))),
        ("$${A}", ("${A}",)),
        ("$$${A}", ("$${A}",)),
        ("$${A}${A}", ("${A}", Placeholder("A"))),
        ("${ha-token}", ("${ha-token}",)),
        ("${}", ("${}",)),
        ("${ A }", ("${ A }",)),
        ("$A {A} {{A}}", ("$A {A} {{A}}",)),
        ("${É}", ("${É}",)),
        ("${${A}}", ("${", Placeholder("A"), "}")),
    ],
)
def test_settings_are_dollar_and_braces(text: str, pieces: tuple[Any, ...]) -> None:
    """Word characters only; two dollars write the text itself; all else is text."""
    assert Template.of(text, SETTINGS).pieces == pieces


@pytest.mark.parametrize(
    ("text", "pieces"),
    [
        ("{{A}}", (Placeholder("A"),)),
        ("a{{A1_B}}b", ("a", Placeholder("A1_B"), "b")),
        ("{{a}} {{1A}} {{_A}} {{ A }} {{A-B}}", ("{{a}} {{1A}} {{_A}} {{ A }} {{A-B}}",)),
        ("${A} {A}", ("${A} {A}",)),
        ("{{{A}}}", ("{", Placeholder("A"), "}")),
    ],
)
def test_secrets_are_double_braces(text: str, pieces: tuple[Any, ...]) -> None:
    """An upper-case letter first; what is no such name is text."""
    assert Template.of(text, SECRETS).pieces == pieces


@pytest.mark.parametrize(
    ("text", "found"),
    [("${A}-${b}", ["A", "b"]), ("$${A}", []), ("${ha-token}", []), ("a${A_1}", ["A_1"])],
)
def test_the_published_pattern_finds_the_same_names(text: str, found: list[str]) -> None:
    """PLACEHOLDER_RE's group is the name."""
    assert PLACEHOLDER_RE.findall(text) == found
    assert sorted(Template.of(text).names) == sorted(found)


@given(st.lists(st.one_of(noise, names.map(Placeholder)), max_size=8), st.data())
def test_one_pass_over_the_authors_text(pieces: list[Any], data: st.DataObject) -> None:
    """A template of known pieces fills to their texts and values, whatever the values hold."""
    values = {
        p.name: data.draw(noise.map(lambda t: f"v{t}")) for p in pieces if not isinstance(p, str)
    }
    text = "".join(p if isinstance(p, str) else f"{{{{{p.name}}}}}" for p in pieces)
    read = Template.of(text, SECRETS)
    values |= dict.fromkeys(read.names - values.keys(), "other")
    whole = re.sub(r"\{\{([A-Z][A-Z0-9_]*)\}\}", lambda m: values[m[1]], text)
    assert read.fill(values) == whole


@given(noise, noise)
def test_values_are_never_read_again(before: str, value: str) -> None:
    """A value comes out to the letter, even one that holds its own name."""
    stored = f"{value}${{A}}{{{{A}}}}"
    assert Template.of("<${A}>").fill({"A": stored}) == f"<{stored}>"
    assert fill({"k": ["${A}", before.replace("$", "")]}, {"A": stored}) == {
        "k": [stored, before.replace("$", "")]
    }


def test_needs_walks_the_whole_definition_and_no_keys() -> None:
    """Every text at any depth; keys are no templates."""
    definition = {
        "url": "https://${HOST}/{id}",
        "headers": {"A": "Bearer ${TOKEN}", "${KEY}": "x"},
        "list": [["${DEEP}"], {"n": 5, "none": None}, "{{SECRET}}"],
    }
    assert needs(definition) == {"HOST", "TOKEN", "DEEP"}
    assert needs(definition, SECRETS) == {"SECRET"}


def test_fill_keeps_everything_else() -> None:
    """Types, keys and order stay; the definition itself is not changed."""
    definition = {"b": "${A}", "a": [1, True, None, {"${A}": "x$${A}"}]}
    assert fill(definition, {"A": "v"}) == {"b": "v", "a": [1, True, None, {"${A}": "x${A}"}]}
    assert definition["b"] == "${A}"


@pytest.mark.parametrize("values", [{}, {"TOKEN": ""}, {"TOKEN": " \n"}])
def test_a_missing_or_blank_value_is_named_with_its_place(values: dict[str, str]) -> None:
    """The error is PrimeThink's, and also says that a secret is missing."""
    with pytest.raises(UnresolvedPlaceholderError) as caught:
        fill({"headers": [{"X": "${TOKEN}"}]}, values, where="options")
    assert isinstance(caught.value, SecretMissing)
    assert caught.value.where == "options.headers[0].X"
    assert "'TOKEN'" in caught.value.message
    assert "PUT /api/v1/settings/TOKEN" in str(caught.value)


def test_nesting_has_an_end() -> None:
    """A definition cannot exhaust the stack."""
    deep: Any = "${A}"
    for _ in range(5000):
        deep = [deep]
    assert needs(deep) == {"A"}
    with pytest.raises(InvalidOptions, match="Nested deeper"):
        fill(deep, {"A": "v"})
