"""This module says in what a definition differs from the one that was accepted."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any, cast

from toolcrib.catalog.changes import WORDS, Change, ChangeKind, change, text_change
from toolcrib.catalog.characters import confusable_in, hidden_in, named
from toolcrib.catalog.pins import BEHIND
from toolcrib.catalog.schema_diff import same, schema_changes

_TEXTS = frozenset({"description", "title"})
_SCHEMAS = frozenset({"inputSchema", "outputSchema"})
_UPSTREAM = frozenset({"upstream", "method"})
_TITLE = "annotations.title"


def differences(before: Mapping[str, Any] | None, after: Mapping[str, Any]) -> list[Change]:
    """Every difference, none for equal definitions; without `before` only what looks odd."""
    changes: list[Change] = []
    if before is not None:
        for key in sorted({*before, *after}):
            one, other = before.get(key), after.get(key)
            if (key in before) != (key in after) or not same(one, other):
                changes += _part(key, one, other)
    return [*changes, *_oddities(before, after)]


def is_text_only(changes: Sequence[Change]) -> bool:
    """Whether only descriptions and titles changed, to what a person can read as it is."""
    return bool(changes) and all(one.kind == "text" for one in changes)


def is_code_only(changes: Sequence[Change]) -> bool:
    """Whether nothing changed that a model or a client could notice."""
    return bool(changes) and all(one.kind == "code" for one in changes)


def summary_of(changes: Sequence[Change]) -> str:
    """The kinds of change in a clause, without a word of the definition itself."""
    kinds: list[ChangeKind] = [one.kind for one in changes]
    counted = Counter(kinds)
    return "; ".join(
        WORDS[kind] + (f" ({number} times)" if number > 1 else "")
        for kind, number in counted.items()
    )


def _part(key: str, one: Any, other: Any) -> Iterator[Change]:
    if key == "name":
        yield change("name", key, one, other)
    elif key in _TEXTS and _may_be_text(one) and _may_be_text(other):
        yield text_change(key, one or "", other or "")
    elif key in _SCHEMAS:
        yield from schema_changes(one, other, key)
    elif key == "annotations" and _are_objects(one, other):
        yield from _members(one, other, key, _annotation)
    elif key == BEHIND and _are_objects(one, other):
        yield from _members(one, other, key, _behind)
    else:
        yield change("other", key, one, other)


def _may_be_text(value: Any) -> bool:
    return value is None or isinstance(value, str)


def _are_objects(*values: Any) -> bool:
    return all(value is None or isinstance(value, Mapping) for value in values)


def _members(
    one: Any, other: Any, where: str, kind: Callable[[str], ChangeKind]
) -> Iterator[Change]:
    old, new = dict(one or {}), dict(other or {})
    if not old and not new:
        yield change("other", where, one, other)
    for name in sorted({*old, *new}):
        before, after = old.get(name), new.get(name)
        if (name in old) == (name in new) and same(before, after):
            continue
        place = f"{where}.{name}"
        if place == _TITLE and _may_be_text(before) and _may_be_text(after):
            yield text_change(place, before or "", after or "")
        else:
            yield change(kind(name), place, before, after)


def _annotation(name: str) -> ChangeKind:
    return "annotation"


def _behind(name: str) -> ChangeKind:
    if name in _UPSTREAM:
        return "upstream"
    return "other" if name == "definition" else "code"


def _oddities(before: Mapping[str, Any] | None, after: Mapping[str, Any]) -> Iterator[Change]:
    """Characters that a person would not notice, unless they were accepted there already."""
    known = dict(_texts(before or {}, ""))
    for where, text in _texts(after, ""):
        if known.get(where) == text:
            continue
        if hidden := hidden_in(text):
            yield change("hidden_characters", where, None, [named(c) for c in hidden])
        if confusable := confusable_in(text):
            yield change("confusable_letters", where, None, [named(c) for c in confusable])


def _texts(value: Any, where: str) -> Iterator[tuple[str, str]]:
    """Every text of a JSON value with its path, keys among them."""
    if isinstance(value, str):
        yield where, value
    elif isinstance(value, Mapping):
        for key, one in cast("Mapping[str, Any]", value).items():
            place = f"{where}.{key}" if where else key
            yield f"{place} (the name)", key
            yield from _texts(one, place)
    elif isinstance(value, list | tuple):
        for number, one in enumerate(cast("Sequence[Any]", value)):
            yield from _texts(one, f"{where}[{number}]")
