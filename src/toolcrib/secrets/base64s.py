"""This module finds a value inside base64 text: at each alignment, wrapped into lines, escaped.

A longer text that holds the value (`user:value`, a whole request) is encoded three bytes at a time,
so the value stands at one of three alignments. The characters that its bytes alone decide are
looked for; at its edges one more may hold a few bits of it.
"""

from __future__ import annotations

import base64
import re
from bisect import bisect_right
from collections.abc import Iterable, Sequence
from functools import cached_property

from toolcrib.secrets.spelling import mark_among_characters

_FEW = 512
"""Longer values are looked for with their own marks only: their expressions would be huge."""
_LINE = 60
"""Lines are broken after 60 characters or more, so that many hold one break at most."""
_RUN = re.compile(r"[A-Za-z0-9]+", re.ASCII)
_NEWLINE = (
    r"[\r\n]|(?>\\{1,8})[rn]|%(?:25)?0[aAdD]|&(?:amp;)?#(?:0{0,4}1[03]|[xX]0{0,4}[aAdD]);|&NewLine;"
)
_BREAK = re.compile(rf"(?:{_NEWLINE})(?>(?:[ \t]|{_NEWLINE}){{0,8}})")
Span = tuple[int, int]


class Base64Forms:
    """The base64 forms of some texts."""

    def __init__(self, texts: Iterable[str]) -> None:
        raws = {text.encode(errors="replace") for text in texts}
        self._forms = sorted(
            {form for raw in raws for form in _alignments(raw)},
            key=lambda f: len(f[0]),
            reverse=True,
        )

    @cached_property
    def probes(self) -> list[str]:
        """Texts of which one is wherever a form is, even where a line breaks inside it."""
        return [part for form, _ in self._forms for part in _two_parts(form[:_LINE])]

    def spans(self, text: str) -> list[Span]:
        """Where the forms are, in order, none inside another."""
        if not any(map(text.__contains__, self.probes)):
            return []
        found = list(self._found(text))
        lines = _Lines(text)
        if lines.broken:
            found += [lines.span(*span) for span in self._found(lines.text)]
        return _merged(found)

    def _found(self, text: str) -> Iterable[Span]:
        if self._pattern is not None:
            yield from (match.span() for match in self._pattern.finditer(text))
        for form in self._long:
            start = text.find(form)
            while start >= 0:
                yield start, start + len(form)
                start = text.find(form, start + len(form))

    @cached_property
    def _long(self) -> list[str]:
        long = [form for form, _ in self._forms if len(form) > _FEW]
        return [*long, *(form.replace("+", "-").replace("/", "_") for form in long)]

    @cached_property
    def _pattern(self) -> re.Pattern[str] | None:
        forms = [_expression(*form) for form in self._forms if len(form[0]) <= _FEW]
        return re.compile("|".join(forms)) if forms else None


class _Lines:
    """A text without its line breaks, which knows where its characters were."""

    def __init__(self, text: str) -> None:
        breaks = [match.span() for match in _BREAK.finditer(text)]
        self.broken = bool(breaks)
        pieces: list[str] = []
        self._at: list[int] = []
        self._was: list[int] = []
        size = start = 0
        for end, following in [*breaks, (len(text), len(text))]:
            pieces.append(text[start:end])
            self._at.append(size)
            self._was.append(start)
            size += end - start
            start = following
        self.text = "".join(pieces)

    def span(self, start: int, end: int) -> Span:
        return self._place(start), self._place(end - 1) + 1

    def _place(self, at: int) -> int:
        piece = bisect_right(self._at, at) - 1
        return self._was[piece] + at - self._at[piece]


def _alignments(raw: bytes) -> Iterable[tuple[str, str]]:
    """`(characters of the value alone, the last one where the text ends with the value)`."""
    for shift in range(3):
        encoded = base64.b64encode(b"\0" * shift + raw).decode().rstrip("=")
        end = (8 * shift + 8 * len(raw)) // 6
        yield encoded[(8 * shift + 5) // 6 : end], encoded[end:]


def _expression(form: str, last: str) -> str:
    """A form in either alphabet, with its marks in every spelling, and with the end of the text."""
    ending = f"(?:{_spelled(last)}(?:{mark_among_characters('=')}){{0,2}})?" if last else ""
    return f"{_spelled(form)}{ending}"


def _spelled(form: str) -> str:
    return "".join(char if char.isalnum() else _EITHER[char] for char in form)


def _two_parts(form: str) -> Sequence[str]:
    """Two parts of a form that do not touch the same character, without marks."""
    runs = sorted((match[0] for match in _RUN.finditer(form)), key=len, reverse=True) or [""]
    longest = runs[0]
    half = len(longest) // 2
    if len(runs) > 1 and len(runs[1]) >= half:
        return longest, runs[1]
    return longest[:half], longest[half:]


def _merged(spans: list[Span]) -> list[Span]:
    merged: list[Span] = []
    for start, end in sorted(spans):
        if merged and start < merged[-1][1]:
            merged[-1] = (merged[-1][0], max(end, merged[-1][1]))
        else:
            merged.append((start, end))
    return merged


_EITHER = {
    # A query that was read as a form has a space where the plus was.
    "+": f"(?:{mark_among_characters('+')}|[- ])",
    "/": f"(?:{mark_among_characters('/')}|_)",
}
