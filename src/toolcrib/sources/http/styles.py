"""This module writes arguments into query strings, paths and headers, in every style of OpenAPI.

A writer of a query field gives `name=value` text ready to send, several joined by `&`, or nothing.
Names and values are percent-encoded each for itself, so no value can add a field.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import Any, Literal
from urllib.parse import quote

from toolcrib.sources.http.words import is_array, is_object, json_text, percent, text_of

Arguments = Mapping[str, Any]
QueryWriter = Callable[[Arguments], str]
PathStyle = Literal["simple", "label", "matrix"]

_RESERVED_IN_QUERY = ":/?[]@!$'()*,;"
"""What `allowReserved` leaves as it is, less what would end or split a query (`#&+=`)."""


def plain(argument: str, name: str, *, drop_empty: bool = False) -> QueryWriter:
    """A scalar as `name=value`, a list as the same field several times, an object as JSON."""
    key = percent(name)

    def write(arguments: Arguments) -> str:
        value = arguments.get(argument)
        if value is None or (drop_empty and value == ""):
            return ""
        if is_array(value):
            return _repeated(key, value)
        return f"{key}={percent(value)}"

    return write


def form(argument: str, name: str, *, explode: bool = True, reserved: bool = False) -> QueryWriter:
    """OpenAPI's `form`: `ids=1&ids=2`, or `ids=1,2` without explode; an object by its members."""
    encode = _encoder(reserved)
    key = percent(name)

    def write(arguments: Arguments) -> str:
        value = arguments.get(argument)
        if value is None:
            return ""
        if is_object(value) and explode:
            return "&".join(f"{percent(k)}={encode(v)}" for k, v in _members(value))
        items = _items(value)
        if items is None:
            return f"{key}={encode(value)}"
        if explode:
            return "&".join(f"{key}={encode(item)}" for item in items)
        return f"{key}={','.join(map(encode, items))}" if items else ""

    return write


def delimited(argument: str, name: str, separator: str) -> QueryWriter:
    """`spaceDelimited` (" ") and `pipeDelimited` ("|") without explode: `p=1%7C2`."""
    key, mark = percent(name), percent(separator)

    def write(arguments: Arguments) -> str:
        value = arguments.get(argument)
        items = _items(value)
        if items is None:
            return "" if value is None else f"{key}={percent(value)}"
        return f"{key}={mark.join(map(percent, items))}" if items else ""

    return write


def deep_object(argument: str, name: str) -> QueryWriter:
    """`deepObject`: `filter[eq]=1`, nested as `a[b][c]=1`, lists as the same key several times."""

    def write(arguments: Arguments) -> str:
        value = arguments.get(argument)
        if value is None:
            return ""
        return "&".join(f"{percent(key)}={percent(item)}" for key, item in _deep(name, value))

    return write


def json_field(argument: str, name: str) -> QueryWriter:
    """`content: application/json`: the whole value as JSON text."""
    key = percent(name)

    def write(arguments: Arguments) -> str:
        if arguments.get(argument) is None:
            return ""
        return f"{key}={percent(json_text(arguments[argument]))}"

    return write


def path_writer(style: PathStyle, name: str, *, explode: bool = False) -> Callable[[Any], str]:
    """A path parameter of one style; what it gives stays within one path segment."""
    lead = {"simple": "", "label": ".", "matrix": ";"}[style]
    mark = {"simple": ",", "label": ".", "matrix": ";"}[style] if explode else ","
    named = f"{percent(name)}=" if style == "matrix" else ""
    each = named if explode else ""

    def write(value: Any) -> str:
        if is_object(value) and explode:
            return lead + mark.join(f"{percent(k)}={percent(v)}" for k, v in _members(value))
        items = _items(value)
        if items is None:
            return lead + named + percent(value)
        text = mark.join(each + percent(item) for item in items)
        return lead + (text if each else named + text)

    return write


def header_text(value: Any, *, explode: bool = False) -> str:
    """OpenAPI's `simple` in a header: `a,b`, `x,1,y,2`, or `x=1,y=2` with explode."""
    if is_object(value) and explode:
        return ",".join(f"{k}={text_of(v)}" for k, v in _members(value))
    items = _items(value)
    return text_of(value) if items is None else ",".join(map(text_of, items))


def _repeated(key: str, items: Iterable[Any]) -> str:
    return "&".join(f"{key}={percent(item)}" for item in items if item is not None)


def _members(members: Mapping[str, Any]) -> list[tuple[str, Any]]:
    """The members of an object that have a value."""
    return [(key, member) for key, member in members.items() if member is not None]


def _items(value: object) -> list[Any] | None:
    """A list's items, an object's keys and values in turn; None for a scalar."""
    if is_object(value):
        return [part for member in _members(value) for part in member]
    return value if is_array(value) else None


def _deep(key: str, value: object) -> Iterable[tuple[str, Any]]:
    if is_object(value):
        for name, member in _members(value):
            yield from _deep(f"{key}[{name}]", member)
    elif is_array(value):
        for item in value:
            yield key, json_text(item) if is_object(item) else item
    elif value is not None:
        yield key, value


def _encoder(reserved: bool) -> Callable[[Any], str]:
    if not reserved:
        return percent
    return lambda value: quote(text_of(value), safe=_RESERVED_IN_QUERY)
