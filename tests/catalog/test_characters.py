"""What a person does not see in a text, or takes for something else."""

from __future__ import annotations

import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st

from toolcrib.catalog.characters import confusable_in, hidden_in, is_hidden, skeleton, visible


@pytest.mark.parametrize(
    ("character", "name"),
    [
        ("\u200b", "ZERO WIDTH SPACE"),
        ("\u202e", "RIGHT-TO-LEFT OVERRIDE"),
        ("\u2066", "LEFT-TO-RIGHT ISOLATE"),
        ("\ufeff", "ZERO WIDTH NO-BREAK SPACE"),
        ("\U000e0041", "TAG LATIN CAPITAL LETTER A"),
        ("\ufe0f", "VARIATION SELECTOR-16"),
        ("\u00ad", "SOFT HYPHEN"),
        ("\u3164", "HANGUL FILLER"),
        ("\u00a0", "NO-BREAK SPACE"),
        ("\x1b", "CONTROL CHARACTER"),
        ("\x7f", "CONTROL CHARACTER"),
        ("\ue000", "PRIVATE USE CHARACTER"),
        ("\ud800", "HALF OF A SURROGATE PAIR"),
    ],
)
def test_hidden_characters_are_named(character: str, name: str) -> None:
    text = f"do{character}it"
    assert hidden_in(text) == [character]
    assert visible(text) == f"do⟦\\u{{{ord(character):x}}} {name}⟧it"
    assert skeleton(text) == "doit"


@pytest.mark.parametrize("text", ["a b", "a\tb\nc\r\n", "Überprüfung – ja…", "検索", "поиск", "🙂"])
def test_usual_text_stays(text: str) -> None:
    """Other scripts are nothing odd by themselves."""
    assert hidden_in(text) == []
    assert confusable_in(text) == []
    assert visible(text) == text


def test_letters_that_look_alike() -> None:
    """A Cyrillic letter inside a Latin word is spelled out; the word looks like the Latin one."""
    text = "pаypal transfers"  # the first a is Cyrillic
    assert confusable_in(text) == ["а"]
    assert visible(text) == "p⟦\\u{430} CYRILLIC SMALL LETTER A⟧ypal transfers"
    assert skeleton(text) == "paypal transfers"


def test_brackets_of_the_text_itself_are_spelled_out() -> None:
    """What is shown cannot be imitated by what is quoted."""
    assert visible("⟦x⟧").count("MATHEMATICAL") == 2


@given(st.text(st.characters(exclude_categories=())))
def test_nothing_hidden_is_left_visible(text: str) -> None:
    """Every character of the invisible kinds is found, and none remains in what is shown."""
    assert not any(is_hidden(c) for c in visible(text))
    odd = {c for c in text if unicodedata.category(c) in {"Cf", "Cs", "Co", "Zl", "Zp"}}
    assert odd <= set(hidden_in(text))
    assert is_hidden("\u200b")


@given(st.text())
def test_what_was_shown_can_be_told_apart(text: str) -> None:
    """Two texts that look alike are shown differently."""
    assert visible(text + "\u200b") != visible(text)
