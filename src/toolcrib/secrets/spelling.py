"""This module writes a regular expression for a text in every spelling that others give it.

Letters and digits stay as they are everywhere. Every other character may come as it is, or as a
URL, JSON, HTML or a wrong charset writes it, each character in its own way, once or twice over.
"""

from __future__ import annotations

import html
import json
import re
from collections.abc import Iterable, Sequence
from functools import lru_cache
from html.entities import html5
from urllib.parse import quote, quote_plus

_LONGEST, _MOST_MARKS = 4096, 256
_PARTS = re.compile(r"\\+|[^\x00-\x7f]+|.", re.DOTALL)
_MARK = re.compile(r"[^A-Za-z0-9]")
_BACKSLASH = r"(?:\\|%(?:25)?5[cC]|&(?:amp;)?(?:#92|#[xX]5[cC]|bsol);)"
_ESCAPED = f"(?>{_BACKSLASH}{{0,7}})"
"""JSON inside JSON doubles them each time. Atomic: no run of them is tried twice. A possessive `+`
would say the same, and Python before 3.11.5 matches it wrongly."""
_NAMES: dict[str, list[str]] = {}
for _name, _text in html5.items():
    if len(_text) == 1 and _name.endswith(";"):
        _NAMES.setdefault(_text, []).append(_name)
_SHORT = {"\n": "n", "\r": "r", "\t": "t", "\b": "b", "\f": "f"}


def spellable(text: str) -> bool:
    """Whether the expression for a text is small enough to be worth its making."""
    return len(text) <= _LONGEST and len(_MARK.findall(text)) <= _MOST_MARKS


def usual_spellings(text: str) -> set[str]:
    """A long text as it is, and as a URL, JSON and HTML write all of it."""
    as_json = json.dumps(text, ensure_ascii=False)[1:-1]
    return {
        text,
        text.replace("\n", "\r\n"),
        quote(text),
        quote(text, safe=""),
        quote_plus(text),
        html.escape(text),
        as_json,
        as_json.replace("/", "\\/"),
        json.dumps(text)[1:-1],
    }


def spelled(text: str) -> str:
    """The expression for a text among characters."""
    return "".join(_in_characters(part) for part in _PARTS.findall(text))


def spelled_in_bytes(text: str) -> bytes:
    """The expression for a text among bytes, in UTF-8 or Latin-1."""
    return b"".join(_in_bytes(part) for part in _PARTS.findall(text))


def mark_among_characters(char: str) -> str:
    """The expression for one character that is neither letter nor digit."""
    return _in_characters(char)


@lru_cache(maxsize=2048)
def _in_characters(part: str) -> str:
    if part.isascii():
        return part if part.isalnum() else _any_of([*_escapes(part)])
    # No text of U+FFFD may be tried in every way there is: a run of such characters is one step.
    return f"(?>\ufffd{{{len(part)},{len(part) * 4}}}|{''.join(map(_strange, part))})"


@lru_cache(maxsize=2048)
def _in_bytes(part: str) -> bytes:
    known = _in_characters(part).encode(errors="replace")
    if part.isascii() or max(part) > "\xff":
        return known
    return b"(?:%b|%b)" % (known, re.escape(part.encode("latin-1")))


def _strange(char: str) -> str:
    """One character that is not ASCII, also as a wrong charset shows it."""
    raw = char.encode(errors="replace")
    wrong = [re.escape(raw.decode(name, "replace")) for name in ("latin-1", "cp1252")]
    return _any_of([*wrong, *_escapes(char), "\ufffd", r"\?"])


def _escapes(part: str) -> Iterable[str]:
    """One character, or a run of backslashes, as it is and as a URL, JSON and HTML write it.

    No two of the forms fit the same text: else a text that is nearly a value would be tried in
    as many ways as there are forms for all of its marks together.
    """
    if part.startswith("\\"):
        yield f"(?:(?>{_BACKSLASH}{{1,8}})(?:u00|x)5[cC]){{{len(part)}}}"
        yield f"(?>{_BACKSLASH}{{{len(part)},{len(part) * 8}}})"
        return
    html_forms = [_numeric(part), *_named(part)]
    if part in '"/':
        yield _ESCAPED + _any_of([part, _percent(part), *html_forms])
        yield _unicode(part)
        return
    # What begins with the character itself (`&amp;`, `%25`) is tried before it.
    yield from (_percent(part), _unicode(part), *html_forms, re.escape(part))
    if part in _SHORT:
        yield _ESCAPED + _SHORT[part]
    if part == " ":
        yield r"\+"
    if part == "\n":
        yield r"\r\n"


def _percent(char: str) -> str:
    return "".join(f"%(?:25)?{_hex(f'{byte:02x}')}" for byte in char.encode(errors="replace"))


def _unicode(char: str) -> str:
    units = char.encode("utf-16-be", "surrogatepass")
    pairs = [units[n : n + 2].hex() for n in range(0, len(units), 2)]
    written = "".join(f"{_ESCAPED}u{_hex(pair)}" for pair in pairs)
    if char > "\xff":
        return written
    return f"{_ESCAPED}(?:u{_hex(pairs[0])}|x{_hex(pairs[0][2:])})"


def _named(char: str) -> list[str]:
    """The names that HTML has for it."""
    return [f"&(?:amp;)?{re.escape(name)}" for name in _NAMES.get(char, ())]


def _numeric(char: str) -> str:
    number = ord(char)
    return f"&(?:amp;)?#(?:0{{0,4}}{number}|[xX]0{{0,4}}{_hex(f'{number:x}')});"


def _hex(digits: str) -> str:
    return "".join(d if d.isdigit() else f"[{d}{d.upper()}]" for d in digits)


def _any_of(forms: Sequence[str]) -> str:
    return f"(?:{'|'.join(dict.fromkeys(forms))})"
