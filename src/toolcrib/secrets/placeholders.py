"""This module reads the placeholders of definitions: `${NAME}` a setting, `{{NAME}}` a secret.

They are two languages with one rule: the author's text is read once and cut into pieces, values
are put in between, and no value is ever read again. So `${A}` with the value "${B}" sends "${B}".
`$${NAME}` writes a literal `${NAME}`; `${ha-token}` and `{{lower}}` are text. Keys of objects
are no templates.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import Any, Final, cast

from toolcrib.errors import InvalidOptions, UnresolvedPlaceholderError

PLACEHOLDER_RE: Final = re.compile(r"(?<!\$)\$\{(\w+)\}", re.ASCII)
"""A `${NAME}` that stands for a setting; group 1 is the name (PrimeThink's name for it)."""

MAX_DEPTH: Final = 100
"""Deeper definitions are refused."""


@dataclass(frozen=True, slots=True)
class Language:
    """One placeholder language. Group 1 of `pattern` is a name, group 2 an escaped literal."""

    noun: str
    pattern: re.Pattern[str]
    spelling: str
    hint: str

    def spell(self, name: str) -> str:
        """How an author writes the placeholder of that name."""
        return self.spelling.replace("NAME", name)


SETTINGS: Final = Language(
    noun="setting",
    pattern=re.compile(r"(?<!\$)\$\{(\w+)\}|\$(\$\{\w+\})", re.ASCII),
    spelling="${NAME}",
    hint="Set it with PUT /api/v1/settings/NAME.",
)
SECRETS: Final = Language(
    noun="secret",
    pattern=re.compile(r"\{\{([A-Z][A-Z0-9_]*)\}\}", re.ASCII),
    spelling="{{NAME}}",
    hint="Store it with PUT /admin/secrets/NAME.",
)


@dataclass(frozen=True, slots=True)
class Placeholder:
    """A hole that a stored value fills."""

    name: str


@dataclass(frozen=True, slots=True)
class Template:
    """A text cut at its placeholders, in order. Literal pieces are never empty."""

    pieces: tuple[str | Placeholder, ...]
    language: Language

    @classmethod
    def of(cls, text: str, language: Language = SETTINGS) -> Template:
        pieces: list[str | Placeholder] = []
        literal = ""
        last = 0
        for match in language.pattern.finditer(text):
            literal += text[last : match.start()]
            last = match.end()
            if match[1] is None:
                literal += match[2]
                continue
            if literal:
                pieces.append(literal)
            literal = ""
            pieces.append(Placeholder(match[1]))
        literal += text[last:]
        return cls((*pieces, literal) if literal else tuple(pieces), language)

    @property
    def names(self) -> frozenset[str]:
        return frozenset(p.name for p in self.pieces if isinstance(p, Placeholder))

    def fill(self, values: Mapping[str, str], *, where: str = "") -> str:
        """The text with its values. Raises UnresolvedPlaceholderError for one that is missing."""
        return "".join(
            value_of(piece, values, self.language, where=where)
            if isinstance(piece, Placeholder)
            else piece
            for piece in self.pieces
        )


def value_of(
    placeholder: Placeholder, values: Mapping[str, str], language: Language, *, where: str = ""
) -> str:
    """The value of one placeholder; a blank one counts as missing."""
    value = values.get(placeholder.name)
    if value is None or not value.strip():
        name = placeholder.name
        raise UnresolvedPlaceholderError(
            f"The placeholder {language.spell(name)} could not be resolved: "
            f"the {language.noun} {name!r} has no value.",
            where=where or None,
            hint=language.hint.replace("NAME", name),
        )
    return value


def needs(value: Any, language: Language = SETTINGS) -> frozenset[str]:
    """The names that a JSON value mentions, at any depth, keys excepted."""
    found: set[str] = set()
    waiting: list[Any] = [value]
    while waiting:
        node = waiting.pop()
        if isinstance(node, str):
            found |= Template.of(node, language).names
        elif isinstance(node, Mapping):
            waiting += cast("Mapping[Any, Any]", node).values()
        elif isinstance(node, list | tuple):
            waiting += cast("Iterable[Any]", node)
    return frozenset(found)


def fill(
    value: Any, values: Mapping[str, str], *, language: Language = SETTINGS, where: str = ""
) -> Any:
    """A copy of a JSON value with every string filled in one pass.

    Raises UnresolvedPlaceholderError that names the setting and the place, such as
    `options.headers.Authorization`; InvalidOptions for a value nested too deep.
    """
    return map_text(
        value, lambda text, place: Template.of(text, language).fill(values, where=place), where
    )


def map_text(value: Any, change: Callable[[str, str], Any], where: str = "", depth: int = 0) -> Any:
    """A copy of a JSON value with `change(text, place)` in the place of every string."""
    if depth > MAX_DEPTH:
        raise InvalidOptions(f"Nested deeper than {MAX_DEPTH} levels.", where=where)
    if isinstance(value, str):
        return change(value, where)
    if isinstance(value, Mapping):
        members = cast("Mapping[Any, Any]", value)
        return {
            key: map_text(member, change, joined(where, str(key)), depth + 1)
            for key, member in members.items()
        }
    if isinstance(value, list | tuple):
        items = cast("Iterable[Any]", value)
        return [map_text(item, change, f"{where}[{n}]", depth + 1) for n, item in enumerate(items)]
    return value


def joined(where: str, key: str) -> str:
    """The path of a member inside the document."""
    return f"{where}.{key}" if where else key
