"""This module compiles a JSON body template: filled as data, so no value can add a key.

A leaf that is exactly `{name}` keeps the argument's type; a slot inside text is text, inside a text
that is JSON itself it is JSON. A leaf without its argument is left out: the key of an object, the
item of a list.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any, Final, cast

from toolcrib.secrets.placeholders import map_text
from toolcrib.sources.http.holes import json_writers
from toolcrib.sources.http.slots import Filled, Read, Slot, Stored, Values
from toolcrib.sources.http.styles import Arguments
from toolcrib.sources.http.words import (
    Writer,
    is_array,
    is_object,
    json_text,
    json_value,
    text_of,
)

ABSENT: Final = object()
"""No value: not even null."""

Maker = Callable[[Arguments], Any]


@dataclass(frozen=True, slots=True)
class Leaf:
    """A text of a template, cut at its holes, with its place in the document."""

    pieces: Read
    where: str


@dataclass(frozen=True, slots=True)
class _Constant:
    value: Any


def read_tree(value: Any, read: Callable[[str], Read], where: str) -> Any:
    """The same JSON with a Leaf in the place of every text; keys are no templates."""
    return map_text(value, lambda text, place: Leaf(read(text), place), where)


def leaves(tree: Any) -> Iterable[Leaf]:
    """Every text of a tree, in document order."""
    if isinstance(tree, Leaf):
        yield tree
    elif isinstance(tree, dict):
        for member in cast("dict[str, Any]", tree).values():
            yield from leaves(member)
    elif isinstance(tree, list):
        for item in cast("list[Any]", tree):
            yield from leaves(item)


def all_pieces(tree: Any) -> list[object]:
    """The pieces of every text of a tree, in order."""
    return [piece for leaf in leaves(tree) for piece in leaf.pieces]


def compile_tree(tree: Any, values: Values) -> Maker:
    """A maker of the JSON value. Raises UnresolvedPlaceholderError with the place."""
    return _maker(_compiled(tree, values))


def _compiled(tree: Any, values: Values) -> _Constant | Maker:
    if isinstance(tree, Leaf):
        return _text(values.place(tree.pieces, tree.where))
    if is_object(tree):
        return _object([(key, _compiled(member, values)) for key, member in tree.items()])
    if is_array(tree):
        return _array([_compiled(item, values) for item in tree])
    return _Constant(tree)


def _object(members: list[tuple[str, _Constant | Maker]]) -> _Constant | Maker:
    if all(isinstance(maker, _Constant) for _, maker in members):
        return _Constant({key: cast("_Constant", maker).value for key, maker in members})
    makers = [(key, _maker(maker)) for key, maker in members]

    def make(arguments: Arguments) -> Any:
        made = [(key, maker(arguments)) for key, maker in makers]
        return {key: value for key, value in made if value is not ABSENT}

    return make


def _array(items: list[_Constant | Maker]) -> _Constant | Maker:
    if all(isinstance(maker, _Constant) for maker in items):
        return _Constant([cast("_Constant", maker).value for maker in items])
    makers = [_maker(maker) for maker in items]

    def make(arguments: Arguments) -> Any:
        made = [maker(arguments) for maker in makers]
        return [value for value in made if value is not ABSENT]

    return make


def _text(pieces: Filled) -> _Constant | Maker:
    if len(pieces) == 1 and isinstance(pieces[0], Slot):
        name = pieces[0].name
        return lambda arguments: arguments.get(name, ABSENT)
    if not any(isinstance(piece, Slot) for piece in pieces):
        return _Constant("".join(_fixed(piece) for piece in pieces))
    steps = _steps(pieces)
    return lambda arguments: "".join(
        step if isinstance(step, str) else step[1](arguments.get(step[0])) for step in steps
    )


def _steps(pieces: Filled) -> list[str | tuple[str, Writer]]:
    """Fixed text, and slots with the way their values are written: a text may be JSON itself."""
    parts = [piece if isinstance(piece, str) else None for piece in pieces]
    writers = iter(json_writers(parts) or [text_of] * parts.count(None))
    steps: list[str | tuple[str, Writer]] = []
    for piece in pieces:
        if isinstance(piece, str):
            steps.append(piece)
            continue
        write = next(writers)
        if isinstance(piece, Slot):
            steps.append((piece.name, write))
        else:
            steps.append((json_value if write is json_text else write)(piece.text))
    return steps


def _fixed(piece: str | Stored | Slot) -> str:
    if isinstance(piece, Slot):
        return ""
    return piece.text if isinstance(piece, Stored) else piece


def _maker(compiled: _Constant | Maker) -> Maker:
    if isinstance(compiled, _Constant):
        value = compiled.value
        return lambda _: value
    return compiled
