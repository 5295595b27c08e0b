"""This module writes JSON values as text, for every place that holds text and not JSON."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Mapping
from decimal import Decimal
from math import isfinite
from typing import Any, TypeGuard
from urllib.parse import quote
from xml.sax.saxutils import escape as _escape_xml

import orjson

from toolcrib.errors import InvalidArguments

Writer = Callable[[Any], str]

_NO_XML = re.compile("[^\t\n\r\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")
_XML_ENTITIES = {'"': "&quot;", "'": "&#39;", "\r": "&#13;", "\n": "&#10;", "\t": "&#9;"}


def is_object(value: object) -> TypeGuard[Mapping[str, Any]]:
    return isinstance(value, Mapping)


def is_array(value: object) -> TypeGuard[list[Any]]:
    return isinstance(value, list)


def text_of(value: Any) -> str:
    """The value as a person would write it: `true`, decimal numbers, JSON for the rest.

    Raises InvalidArguments for a number that nobody could write.
    """
    if isinstance(value, str):
        return value
    if value is True:
        return "true"
    if value is False:
        return "false"
    if value is None:
        return ""
    if isinstance(value, int):
        return _digits(value)
    if isinstance(value, float):
        if not isfinite(value):
            raise InvalidArguments(f"{value!r} is not a number that can be sent.")
        text = repr(value)
        return format(Decimal(text), "f") if "e" in text else text
    return json_text(value)


def _digits(value: int) -> str:
    try:
        return str(value)
    except ValueError as error:
        raise InvalidArguments("A number has too many digits to be sent.") from error


def json_bytes(value: Any) -> bytes:
    """Compact JSON in UTF-8. Raises InvalidArguments for what JSON cannot hold."""
    try:
        return orjson.dumps(value)
    except TypeError:
        pass
    try:  # integers over 64 bits
        text = json.dumps(value, ensure_ascii=False, separators=(",", ":"), allow_nan=False)
        return text.encode()
    except (TypeError, ValueError) as error:
        raise InvalidArguments(f"The arguments cannot be written as JSON: {error}.") from None


def json_text(value: Any) -> str:
    return json_bytes(value).decode()


def percent(value: Any) -> str:
    """Percent-encoded UTF-8: only letters, digits and `-._~` stay as they are."""
    text = value if isinstance(value, str) else text_of(value)
    return text if text.isalnum() and text.isascii() else quote(text, safe="")


def json_content(value: Any) -> str:
    """What stands between the quotes of a JSON string."""
    return json_text(text_of(value))[1:-1]


def json_value(text: str) -> str:
    """A stored value where JSON has a value: itself where it is JSON, else a JSON string."""
    try:
        orjson.loads(text)
    except orjson.JSONDecodeError:
        return json_text(text)
    return text


def xml_content(value: Any) -> str:
    """Character data that reads back the same, in an element or in an attribute."""
    return _escape_xml(xml_text(value), _XML_ENTITIES)


def xml_text(value: Any) -> str:
    """The value as text. Raises InvalidArguments for a character that XML has no way to write."""
    text = text_of(value)
    bad = _NO_XML.search(text)
    if bad:
        raise InvalidArguments(f"XML cannot hold the character U+{ord(bad[0]):04X}.")
    return text
