"""This module compiles a template that is XML or HTML: where a hole stands says how it is filled.

In text and in quoted attributes a value becomes character data, in CDATA it stays as it is, and in
a tag, outside of quotes, only a word may stand: anything else could add an attribute or an element.
"""

from __future__ import annotations

import re
from typing import Any

from toolcrib.errors import InvalidArguments
from toolcrib.sources.http.json_texts import Written
from toolcrib.sources.http.slots import Filled
from toolcrib.sources.http.words import Writer, text_of, xml_content, xml_text

_OPENING = re.compile(r"<!--|<!\[CDATA\[|<\?|<(?=[A-Za-z_:/!]|\Z)")
_ENDS = {"<!--": "-->", "<![CDATA[": "]]>", "<?": "?>", '"': '"', "'": "'"}
_IN_TAG = re.compile(r"[\"'>]")
_WORD = re.compile(r"[A-Za-z0-9_.:-]+", re.ASCII)


def xml_writings(pieces: Filled) -> list[Written]:
    """The pieces, each with its writer."""
    written: list[Written] = []
    state = ""
    for piece in pieces:
        if isinstance(piece, str):
            state = _after(piece, state)
            written.append((piece, str))
        else:
            written.append((piece, _writer(state)))
    return written


def _after(text: str, state: str) -> str:
    """What is open behind a text: nothing, a tag (`<`), a quote in one, or what `_ENDS` ends."""
    at = 0
    inside = "<" if state in {'"', "'"} else ""
    while True:
        if state in _ENDS:
            end = text.find(_ENDS[state], at)
            if end < 0:
                return state
            at, state = end + len(_ENDS[state]), inside
            continue
        found = (_IN_TAG if state else _OPENING).search(text, at)
        if found is None:
            return state
        at = found.end()
        inside = "<" if state else ""
        state = "" if found[0] == ">" else found[0]


def _writer(state: str) -> Writer:
    return {"<": _word, "<![CDATA[": _in_cdata}.get(state, xml_content)


def _word(value: Any) -> str:
    text = text_of(value)
    if not _WORD.fullmatch(text):
        raise InvalidArguments(
            "A value stands inside a tag, outside of quotes: only letters, digits and _.:- may."
        )
    return text


def _in_cdata(value: Any) -> str:
    """Text as it is; what would end the section is cut in two."""
    text = xml_text(value).replace("]]>", "]]]]><![CDATA[>")
    return f"]]><![CDATA[{text}" if text.startswith((">", "]>")) else text
