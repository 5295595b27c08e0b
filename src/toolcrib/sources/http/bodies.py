"""This module holds the kinds of request bodies, from their drafts to their bytes.

A draft knows the definition; bound to stored values it becomes a maker that gives a Payload for
the arguments of one call. None means that the request has no body.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Protocol

from toolcrib.sources.http.kinds import FORM, JSON, TEXT, TYPES, is_form, is_json, kind_of
from toolcrib.sources.http.multipart import FilePart, write_multipart
from toolcrib.sources.http.raws import compile_raw, encoded
from toolcrib.sources.http.slots import Read, Values
from toolcrib.sources.http.styles import Arguments
from toolcrib.sources.http.trees import compile_tree
from toolcrib.sources.http.words import is_array, is_object, json_bytes, percent, text_of


@dataclass(frozen=True, slots=True)
class Payload:
    """A body and the Content-Type that goes with it, unless the author set one."""

    data: bytes
    content_type: str


Files = Sequence[FilePart]
BodyMaker = Callable[[Arguments, Files], Payload | None]


class BodyDraft(Protocol):
    """What the definition says of the body."""

    def bind(self, values: Values, content_type: str) -> BodyMaker:
        """`content_type`: what the author's headers say, or nothing."""
        ...


@dataclass(frozen=True, kw_only=True, slots=True)
class FieldsBody:
    """An object of the arguments, one field each, with fixed members on top.

    `fields` maps arguments to names on the wire. `drops_empty` leaves out "" as well.
    `raw_single` sends an object of one text as that text (Weles' rule).
    """

    fields: Mapping[str, str]
    fixed: Any = field(default_factory=dict[str, Any])
    """A tree of trees.py; an object."""
    drops_empty: bool = False
    raw_single: bool = False

    def bind(self, values: Values, content_type: str) -> BodyMaker:
        fixed = compile_tree(self.fixed, values)({})
        fields = tuple(self.fields.items())
        raw_single = self.raw_single and not is_json(content_type)
        write = _form if is_form(content_type) else _json

        def make(arguments: Arguments, _: Files) -> Payload:
            body = {
                name: arguments[argument]
                for argument, name in fields
                if argument in arguments and not (self.drops_empty and arguments[argument] == "")
            }
            body.update(fixed)
            if raw_single and write is _json and len(body) == 1:
                only = next(iter(body.values()))
                if isinstance(only, str):
                    return Payload(encoded(only, content_type), TEXT)
            return write(body)

        return make


@dataclass(frozen=True, kw_only=True, slots=True)
class TreeBody:
    """A JSON template; `fixed` members go on top where the template gives an object."""

    tree: Any
    fixed: Any = field(default_factory=dict[str, Any])

    def bind(self, values: Values, content_type: str) -> BodyMaker:
        fill = compile_tree(self.tree, values)
        fixed = compile_tree(self.fixed, values)({})

        def make(arguments: Arguments, _: Files) -> Payload:
            value = fill(arguments)
            if fixed and is_object(value):
                value = {**value, **fixed}
            return Payload(json_bytes(value), JSON)

        return make


@dataclass(frozen=True, kw_only=True, slots=True)
class RawBody:
    """A text template."""

    pieces: Read
    where: str

    def bind(self, values: Values, content_type: str) -> BodyMaker:
        pieces = values.place(self.pieces, self.where)
        fill = compile_raw(pieces, content_type, where=self.where)
        own = TYPES[kind_of(content_type, pieces)]
        return lambda arguments, _: Payload(encoded(fill(arguments), content_type), own)


@dataclass(frozen=True, kw_only=True, slots=True)
class MultipartBody:
    """Text fields and files; its Content-Type is its own."""

    fields: Mapping[str, str]
    drops_empty: bool = True

    def bind(self, values: Values, content_type: str) -> BodyMaker:
        fields = tuple(self.fields.items())

        def make(arguments: Arguments, files: Files) -> Payload:
            texts = [
                (name, text_of(arguments[argument]))
                for argument, name in fields
                if argument in arguments and not (self.drops_empty and arguments[argument] == "")
            ]
            return Payload(*write_multipart(texts, files))

        return make


def _json(body: Mapping[str, Any]) -> Payload:
    return Payload(json_bytes(body), JSON)


def _form(body: Mapping[str, Any]) -> Payload:
    """Fields in order; a list is the same field several times, null is left out."""
    pairs: list[str] = []
    for name, value in body.items():
        items = value if is_array(value) else [value]
        pairs += [f"{percent(name)}={percent(item)}" for item in items if item is not None]
    return Payload("&".join(pairs).encode(), FORM)
