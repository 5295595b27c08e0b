"""This module finds out whether a text with holes is JSON, and how its holes are then filled.

JSON stands in more places than a body: in a field of a form, in a query, in a text of other JSON. A
value that is written into it as bare text could end its string and add members.
"""

from __future__ import annotations

import json
import re
from collections.abc import Sequence

from toolcrib.sources.http.words import Writer, json_content, json_text

_DEEPEST = 8
"""Levels of JSON inside strings of JSON; deeper ones are filled as text."""
HOLE = "\0"
"""Stands for a hole in a text that is read for its shape."""
_QUOTES = re.compile(r'(\\.|")', re.DOTALL)
_BLANK = "\ufeff \t\r\n\x1e"


def begins_like_json(parts: Sequence[str | None]) -> bool:
    """Whether the author's text begins with an object or an array. None is a hole."""
    return _joined(parts).lstrip(_BLANK)[:1] in {"{", "["}


def json_writers(parts: Sequence[str | None], *, depth: int = 0) -> list[Writer] | None:
    """How a value is written into each hole; None where the text is no JSON with texts or members.

    Several values may follow each other, as in lines of JSON. A string may be JSON once more.
    """
    text = _joined(parts)
    if '"' not in text or not begins_like_json(parts):
        return None
    writers: list[Writer] = []
    filled: list[str] = []
    string: list[str] | None = None
    for part in _QUOTES.split(text):
        if part == '"':
            if string is not None:
                writers += string_writers("".join(string), depth=depth)
            string = [] if string is None else None
        elif string is not None:
            string.append(part)
        else:
            writers += [json_text] * part.count(HOLE)
        filled.append(part.replace(HOLE, "0" if string is None else "x"))
    return writers if _parses("".join(filled)) else None


def string_writers(content: str, *, depth: int = 0) -> list[Writer]:
    """The same for what stands between the quotes of a JSON string, with U+0000 for each hole."""
    holes = content.count(HOLE)
    inner = None
    if holes and depth < _DEEPEST:
        inner = json_writers(_parted(_read(content)), depth=depth + 1)
    if inner is None or len(inner) != holes:
        return [json_content] * holes
    return [_within(write) for write in inner]


def _within(write: Writer) -> Writer:
    return lambda value: json_content(write(value))


def _parted(text: str) -> list[str | None]:
    first, *rest = text.split(HOLE)
    return [first, *(part for text in rest for part in (None, text))]


def _read(content: str) -> str:
    """A JSON string's content as it reads; as it is where it is none."""
    try:
        return json.loads(f'"{content}"', strict=False)
    except ValueError:
        return content


def _joined(parts: Sequence[str | None]) -> str:
    return "".join(HOLE if part is None else part.replace(HOLE, " ") for part in parts)


def _parses(text: str) -> bool:
    decoder = json.JSONDecoder(strict=False)
    rest = text.lstrip(_BLANK)
    try:
        while rest:
            rest = rest[decoder.raw_decode(rest)[1] :].lstrip(_BLANK)
    except RecursionError:
        return True
    except ValueError:
        return False
    return True
