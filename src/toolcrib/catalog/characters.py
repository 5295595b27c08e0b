"""This module finds the characters that a person does not see, or takes for others."""

from __future__ import annotations

import unicodedata
from functools import lru_cache

_HIDDEN_CATEGORIES = frozenset({"Cc", "Cf", "Co", "Cs", "Cn", "Zl", "Zp"})
_USUAL = frozenset("\n\t\r ")
_BLANK = frozenset("\u115f\u1160\u3164\uffa0\u2800\u034f\u17b4\u17b5")
"""Letters and signs by their category, and nothing to the eye."""

_LOOK_LATIN = {
    # Cyrillic
    "а": "a", "е": "e", "о": "o", "р": "p", "с": "c", "у": "y", "х": "x", "і": "i", "ј": "j",
    "ѕ": "s", "һ": "h", "ԁ": "d", "ԛ": "q", "ԝ": "w", "ь": "b", "к": "k", "м": "m", "т": "t",
    "в": "b", "н": "h", "ӏ": "l", "А": "A", "В": "B", "Е": "E", "К": "K", "М": "M", "Н": "H",
    "О": "O", "Р": "P", "С": "C", "Т": "T", "Х": "X", "У": "Y", "І": "I", "Ј": "J", "Ѕ": "S",
    # Greek
    "α": "a", "ο": "o", "ν": "v", "ρ": "p", "υ": "u", "ι": "i", "κ": "k", "τ": "t", "ϲ": "c",
    "Α": "A", "Β": "B", "Ε": "E", "Ζ": "Z", "Η": "H", "Ι": "I", "Κ": "K", "Μ": "M", "Ν": "N",
    "Ο": "O", "Ρ": "P", "Τ": "T", "Υ": "Y", "Χ": "X",
    # Latin and Armenian relatives
    "ı": "i", "ɑ": "a", "ɡ": "g", "ɩ": "i", "օ": "o", "ո": "n", "ս": "u", "հ": "h", "ց": "g",
    "ℓ": "l", "‐": "-", "‑": "-", "‒": "-", "–": "-", "−": "-", "ـ": "-", "⁄": "/", "∕": "/",
}  # fmt: skip
"""Letters of other scripts that look like Latin ones in most typefaces."""


def is_hidden(character: str) -> bool:
    """Controls, formats (zero width, bidi, tags), private and unassigned ones, odd blanks."""
    if character in _USUAL or " " < character <= "~":
        return False
    return _is_hidden(character)


@lru_cache(maxsize=4096)
def _is_hidden(character: str) -> bool:
    if character in _BLANK or _is_selector(character):
        return True
    category = unicodedata.category(character)
    return category in _HIDDEN_CATEGORIES or (category == "Zs" and character != " ")


def _is_selector(character: str) -> bool:
    return "\ufe00" <= character <= "\ufe0f" or "\U000e0100" <= character <= "\U000e01ef"


def hidden_in(text: str) -> list[str]:
    """Each hidden character once, in order."""
    return [] if _is_plain(text) else list(dict.fromkeys(c for c in text if is_hidden(c)))


def confusable_in(text: str) -> list[str]:
    """Each letter once that stands for a Latin one inside a word of Latin letters."""
    if text.isascii():
        return []
    found: dict[str, None] = {}
    for word in _words(text):
        if any("a" <= c.lower() <= "z" for c in word):
            found.update(dict.fromkeys(c for c in word if is_confusable(c)))
    return list(found)


def is_confusable(character: str) -> bool:
    if character <= "~":
        return False
    return character in _LOOK_LATIN or skeleton(character) != character


def skeleton(text: str) -> str:
    """The text as it looks: without what is hidden, in Latin letters where it looks Latin."""
    if _is_plain(text):
        return text
    seen = "".join(_LOOK_LATIN.get(c, c) for c in text if not is_hidden(c))
    folded = unicodedata.normalize("NFKC", seen)
    return "".join(_LOOK_LATIN.get(c, c) for c in folded)


def visible(text: str) -> str:
    r"""The text with every hidden character and look-alike letter spelled out.

    A zero width space becomes `⟦\u{200b} ZERO WIDTH SPACE⟧`; the brackets are spelled out too
    where the text has some of its own, so what is shown can be told from what is quoted.
    """
    if _is_plain(text):
        return text
    odd = {*hidden_in(text), *confusable_in(text), "⟦", "⟧"}
    return "".join(f"⟦{named(c)}⟧" if c in odd else c for c in text)


def named(character: str) -> str:
    r"""`\u{200b} ZERO WIDTH SPACE`."""
    name = unicodedata.name(character, "") or _nameless(character)
    return f"\\u{{{ord(character):x}}} {name}"


def _nameless(character: str) -> str:
    category = unicodedata.category(character)
    return {
        "Cc": "CONTROL CHARACTER",
        "Cs": "HALF OF A SURROGATE PAIR",
        "Co": "PRIVATE USE CHARACTER",
    }.get(category, "UNASSIGNED CHARACTER")


def _is_plain(text: str) -> bool:
    return text.isascii() and (text.isprintable() or not any(is_hidden(c) for c in text))


def _words(text: str) -> list[str]:
    return "".join(c if c.isalnum() else " " for c in text if not is_hidden(c)).split()
