"""This module reads JSON that a person wrote: strictly, and with the place of what is wrong.

Duplicate keys, NaN and infinities, numbers out of range, trailing data and half characters are
refused; a byte-order mark is not.
"""

from __future__ import annotations

import json
import math
import re
from typing import Any, NoReturn

from toolcrib.errors import InvalidRequest

_TOKEN = re.compile(
    r'"(?:[^"\\]|\\.)*"|[{}\[\]:,]|-?(?:Infinity|\d[\d.eE+-]*)|NaN|true|false|null', re.DOTALL
)


class _Refused(Exception):
    """The decoder met something that only a scan can place."""


def read_strict_json(data: str | bytes) -> Any:
    """The JSON value. Raises InvalidRequest whose `where` is `line L, column C`."""
    text = _text(data)
    try:
        value = _decode(text)
        if "\\u" in text or not _is_whole(text):  # nothing else can hold half a character
            json.dumps(value, ensure_ascii=False).encode()
    except json.JSONDecodeError as error:
        _complain(text, error.pos, error.msg[:1].lower() + error.msg[1:])
    except RecursionError:
        raise InvalidRequest("Not strict JSON: it is nested too deep.") from None
    except UnicodeEncodeError:
        raise InvalidRequest("Not strict JSON: a string holds half a surrogate pair.") from None
    except (_Refused, ValueError):
        _find_fault(text)
    return value


def _text(data: str | bytes) -> str:
    if isinstance(data, str):
        return data.removeprefix("\ufeff")
    try:
        return data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise InvalidRequest(
            f"Not UTF-8: byte {error.start} cannot be read.", hint="Save the file as UTF-8."
        ) from None


def _unique(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    members = dict(pairs)
    if len(members) != len(pairs):
        raise _Refused
    return members


def _refuse(_: str) -> NoReturn:
    raise _Refused


def _finite(digits: str) -> float:
    number = float(digits)
    if math.isinf(number):
        raise _Refused
    return number


def _is_whole(text: str) -> bool:
    try:
        text.encode()
    except UnicodeEncodeError:
        return False
    return True


_decode = json.JSONDecoder(
    object_pairs_hook=_unique, parse_constant=_refuse, parse_float=_finite
).decode
"""Made once: making a decoder takes longer than it takes to read a small text."""


def _find_fault(text: str) -> NoReturn:
    """Walk the tokens of text that is JSON but for one refusal, and raise with its place."""
    keys: list[set[str] | None] = []
    expects_key = False
    for token in _TOKEN.finditer(text):
        word = token[0]
        if word in "{[":
            keys.append(set() if word == "{" else None)
            expects_key = word == "{"
        elif word in "}]":
            keys.pop()
            expects_key = False
        elif word == ",":
            expects_key = keys[-1] is not None
        elif word == ":":
            expects_key = False
        elif word[0] == '"':
            known = keys[-1] if keys and expects_key else None
            if known is not None:
                _note_key(text, token.start(), json.loads(word, strict=False), known)
        elif word not in {"true", "false", "null"}:
            _check_number(text, token.start(), word)
    raise InvalidRequest("Not strict JSON.")


def _note_key(text: str, position: int, key: str, known: set[str]) -> None:
    if key in known:
        _complain(text, position, f"the key {key!r} appears twice in one object")
    known.add(key)


def _check_number(text: str, position: int, word: str) -> None:
    if "N" in word or "I" in word:
        _complain(text, position, f"{word} is not a JSON number")
    try:
        json.loads(word, parse_float=_finite)
    except (_Refused, ValueError):
        _complain(text, position, "the number is out of range")


def _complain(text: str, position: int, what: str) -> NoReturn:
    line = text.count("\n", 0, position) + 1
    column = position - text.rfind("\n", 0, position)
    raise InvalidRequest(f"Not strict JSON: {what}.", where=f"line {line}, column {column}")
