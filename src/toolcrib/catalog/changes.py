"""This module holds one change of a definition, and finds the words that changed in a text."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from difflib import SequenceMatcher
from typing import Any, Literal, cast

from toolcrib.catalog.characters import visible

ChangeKind = Literal[
    "name",
    "text",
    "schema_widened",
    "schema_narrowed",
    "schema_changed",
    "field_added",
    "field_removed",
    "required_added",
    "required_removed",
    "type_changed",
    "annotation",
    "upstream",
    "code",
    "other",
    "hidden_characters",
    "confusable_letters",
]
WORDS: Mapping[ChangeKind, str] = {
    "name": "the name changed",
    "text": "text changed",
    "schema_widened": "a schema takes more",
    "schema_narrowed": "a schema takes less",
    "schema_changed": "a schema changed",
    "field_added": "a field was added",
    "field_removed": "a field was removed",
    "required_added": "a field became required",
    "required_removed": "a field is required no more",
    "type_changed": "a field's type changed",
    "annotation": "what it says of its effects changed",
    "upstream": "where its calls go changed",
    "code": "its code changed",
    "other": "another part changed",
    "hidden_characters": "it holds characters that nobody sees",
    "confusable_letters": "it holds letters that look like others",
}
_TOKEN = re.compile(r"\s+|\w+|[^\w\s]")
_MOST_PAIRS = 4_000_000

Op = Literal["same", "removed", "added"]
_Piece = tuple[Op, list[str]]


@dataclass(frozen=True, kw_only=True, slots=True)
class Change:
    """One difference. `where` is the path inside the definition; `before` and `after` are its
    values there with hidden characters spelled out, None where there is none; `words` are the
    pieces of a changed text."""

    kind: ChangeKind
    where: str
    before: Any = None
    after: Any = None
    words: Sequence[tuple[Op, str]] = field(default_factory=tuple)

    def as_json(self) -> dict[str, Any]:
        told = {"kind": self.kind, "where": self.where, "says": WORDS[self.kind]}
        pieces = [{"op": op, "text": text} for op, text in self.words]
        return {**told, "before": self.before, "after": self.after, "words": pieces}


def change(kind: ChangeKind, where: str, before: Any = None, after: Any = None) -> Change:
    """A change whose values are made visible."""
    return Change(kind=kind, where=visible(where), before=shown(before), after=shown(after))


def text_change(where: str, before: str, after: str) -> Change:
    return Change(
        kind="text",
        where=visible(where),
        before=visible(before),
        after=visible(after),
        words=changed_words(before, after),
    )


def shown(value: Any) -> Any:
    """A JSON value whose texts and keys are made visible."""
    if isinstance(value, str):
        return visible(value)
    if isinstance(value, Mapping):
        given = cast("Mapping[str, Any]", value)
        return {visible(key): shown(one) for key, one in given.items()}
    if isinstance(value, list | tuple):
        return [shown(one) for one in cast("Sequence[Any]", value)]
    return value


def changed_words(before: str, after: str) -> list[tuple[Op, str]]:
    """The pieces, word by word; of texts too long to compare only the middle that differs."""
    old, new = _TOKEN.findall(before), _TOKEN.findall(after)
    start = 0
    while start < min(len(old), len(new)) and old[start] == new[start]:
        start += 1
    end = 0
    while end < min(len(old), len(new)) - start and old[-1 - end] == new[-1 - end]:
        end += 1
    middle_old, middle_new = old[start : len(old) - end], new[start : len(new) - end]
    begin: _Piece = ("same", old[:start])
    rest: _Piece = ("same", old[len(old) - end :])
    pieces = [begin, *_middle(middle_old, middle_new), rest]
    return [(op, visible("".join(tokens))) for op, tokens in pieces if tokens]


def _middle(old: list[str], new: list[str]) -> list[_Piece]:
    if len(old) * len(new) > _MOST_PAIRS:
        return [("removed", old), ("added", new)]
    pieces: list[_Piece] = []
    for tag, i, j, k, m in SequenceMatcher(None, old, new, autojunk=False).get_opcodes():
        if tag == "equal":
            pieces.append(("same", old[i:j]))
        else:
            pieces.append(("removed", old[i:j]))
            pieces.append(("added", new[k:m]))
    return pieces
