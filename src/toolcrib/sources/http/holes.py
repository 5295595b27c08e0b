"""This module finds out whether a text with holes is JSON, and how its holes are then filled.

JSON stands in more places than a body: in a field of a form, in a query, in a text of other JSON. A
value that is written into it as bare text could end its string and add members.
"""

from __future__ import annotations

import json
import re
from collections.abc import Sequence

from toolcrib.sources.http.words import Writer, json_content, json_text

_HOLE = "\0"
_QUOTES = re.compile(r'(\\.|")', re.DOTALL)
_BLANK = "\ufeff \t\r\n\x1e"


def begins_like_json(parts: Sequence[str | None]) -> bool:
    """Whether the author's text begins with an object or an array. None is a hole."""
    return _joined(parts).lstrip(_BLANK)[:1] in {"{", "["}


def json_writers(parts: Sequence[str | None]) -> list[Writer] | None:
    """How a value is written into each hole; None where the text is no JSON with texts or members.

    Several values may follow each other, as in lines of JSON.
    """
    text = _joined(parts)
    if '"' not in text or not begins_like_json(parts):
        return None
    quoted = False
    writers: list[Writer] = []
    filled: list[str] = []
    for part in _QUOTES.split(text):
        quoted ^= part == '"'
        writers += [json_content if quoted else json_text] * part.count(_HOLE)
        filled.append(part.replace(_HOLE, "x" if quoted else "0"))
    return writers if _parses("".join(filled)) else None


def _joined(parts: Sequence[str | None]) -> str:
    return "".join(_HOLE if part is None else part.replace(_HOLE, " ") for part in parts)


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
