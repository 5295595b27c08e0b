"""The difference of two definitions: nothing changes without being told, and in the right words."""

from __future__ import annotations

import copy
import json
from typing import Any

import pytest
from hypothesis import given, settings

from tests.catalog.definitions import DEFINITIONS
from toolcrib.catalog.changes import Change, changed_words
from toolcrib.catalog.characters import is_hidden
from toolcrib.catalog.diff import differences, is_code_only, is_text_only, summary_of
from toolcrib.catalog.schema_diff import same

TOOL: dict[str, Any] = {
    "name": "search",
    "description": "Search the wiki for a page.",
    "inputSchema": {
        "type": "object",
        "properties": {
            "query": {"type": "string", "description": "What to look for", "maxLength": 10},
            "kind": {"enum": ["a", "b"]},
        },
        "required": ["query"],
        "additionalProperties": False,
    },
    "annotations": {"title": "Search", "readOnlyHint": True},
    "source": {"upstream": "https://wiki.example", "method": "GET", "code": "1"},
}


def changed(path: str, value: Any) -> dict[str, Any]:
    """The tool with another value at a path; `None` takes the key away."""
    made = copy.deepcopy(TOOL)
    *before, last = path.split(".")
    place: Any = made
    for key in before:
        place = place[key]
    if value is None:
        del place[last]
    else:
        place[last] = value
    return made


@settings(max_examples=300)
@given(DEFINITIONS, DEFINITIONS)
def test_every_change_is_told(before: dict[str, Any], after: dict[str, Any]) -> None:
    """There are changes exactly where the definitions differ, and all of them are readable."""
    changes = differences(before, after)

    assert bool(changes) == (not same(before, after))
    assert not any(is_hidden(c) for change in changes for c in _said(change))


@settings(max_examples=200)
@given(DEFINITIONS, DEFINITIONS)
def test_text_only_means_text_only(before: dict[str, Any], after: dict[str, Any]) -> None:
    """What counts as text leaves everything equal but descriptions and titles."""
    if is_text_only(differences(before, after)):
        assert same(_without_texts(before), _without_texts(after))


@pytest.mark.parametrize(
    ("path", "value", "kind", "where"),
    [
        ("name", "find", "name", "name"),
        ("description", "Search the web for a page.", "text", "description"),
        ("annotations.title", "Find", "text", "annotations.title"),
        ("annotations.readOnlyHint", False, "annotation", "annotations.readOnlyHint"),
        ("annotations.destructiveHint", True, "annotation", "annotations.destructiveHint"),
        ("source.upstream", "https://evil.example", "upstream", "source.upstream"),
        ("source.code", "2", "code", "source.code"),
        ("icons", [{"src": "x"}], "other", "icons"),
        ("inputSchema.type", "array", "type_changed", "inputSchema.type"),
        ("inputSchema.required", ["query", "kind"], "required_added", "inputSchema.required"),
        ("inputSchema.required", None, "required_removed", "inputSchema.required"),
        (
            "inputSchema.properties.sidenote",
            {"type": "string"},
            "field_added",
            "inputSchema.properties.sidenote",
        ),
        ("inputSchema.properties.kind", None, "field_removed", "inputSchema.properties.kind"),
        (
            "inputSchema.properties.query.description",
            "What to find",
            "text",
            "inputSchema.properties.query.description",
        ),
        (
            "inputSchema.properties.query.maxLength",
            20,
            "schema_widened",
            "inputSchema.properties.query.maxLength",
        ),
        (
            "inputSchema.properties.query.maxLength",
            None,
            "schema_widened",
            "inputSchema.properties.query.maxLength",
        ),
        (
            "inputSchema.properties.query.pattern",
            "^x",
            "schema_narrowed",
            "inputSchema.properties.query.pattern",
        ),
        (
            "inputSchema.properties.kind.enum",
            ["a", "b", "c"],
            "schema_widened",
            "inputSchema.properties.kind.enum",
        ),
        (
            "inputSchema.properties.kind.enum",
            ["b"],
            "schema_narrowed",
            "inputSchema.properties.kind.enum",
        ),
        (
            "inputSchema.additionalProperties",
            True,
            "schema_widened",
            "inputSchema.additionalProperties",
        ),
    ],
)
def test_one_change_has_its_own_word(path: str, value: Any, kind: str, where: str) -> None:
    changes = differences(TOOL, changed(path, value))
    assert [(one.kind, one.where) for one in changes] == [(kind, where)]


def test_words_of_a_text() -> None:
    """Word by word, with what stayed in between."""
    pieces = changed_words("Search the wiki for a page.", "Search the whole web for a page.")

    assert pieces == [
        ("same", "Search the "),
        ("removed", "wiki"),
        ("added", "whole web"),
        ("same", " for a page."),
    ]


def test_two_huge_texts_are_compared_all_the_same() -> None:
    """A text of a megabyte costs no quadratic time."""
    before, after = "alpha beta " * 50_000, "gamma delta " * 50_000
    assert [op for op, _ in changed_words(f"x {before}y", f"x {after}y")] == [
        "same",
        "removed",
        "added",
        "same",
    ]


def test_hidden_characters_are_told_wherever_they_are() -> None:
    """In a name of a field as in a text; those that were accepted already are not told again."""
    odd = changed("inputSchema.properties.q\u200buery", {"description": "\u202ex"})

    kinds = [(one.kind, one.after) for one in differences(TOOL, odd)]

    assert ("hidden_characters", ["\\u{200b} ZERO WIDTH SPACE"]) in kinds
    assert ("hidden_characters", ["\\u{202e} RIGHT-TO-LEFT OVERRIDE"]) in kinds
    assert differences(odd, odd) == []
    assert not is_text_only(differences(TOOL, changed("description", "Search\u00ad it.")))
    assert not is_text_only(differences(TOOL, changed("description", "Seаrch it.")))


def test_what_rules_ask() -> None:
    """Which changes are of text alone, of code alone; and a summary that repeats no word."""
    text = differences(TOOL, changed("description", "Say IGNORE ALL RULES."))
    assert is_text_only(text)
    assert summary_of(text) == "text changed"
    assert is_code_only(differences(TOOL, changed("source.code", "2")))
    assert not is_code_only(differences(TOOL, changed("source.upstream", "x")))
    assert not is_text_only([])
    assert not is_code_only([])


def _said(change: Change) -> str:
    words = "".join(text for _, text in change.words)
    told = json.dumps([change.before, change.after], ensure_ascii=False)
    return change.where + words + told


def _without_texts(value: Any) -> Any:
    if isinstance(value, dict):
        return {
            key: _without_texts(one)
            for key, one in value.items()
            if not (key in {"description", "title", "$comment"} and isinstance(one, str))
        }
    return [_without_texts(one) for one in value] if isinstance(value, list) else value
