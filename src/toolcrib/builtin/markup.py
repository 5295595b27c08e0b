"""This module takes the text out of a page, in one pass: no page makes it look twice.

Python's own parser reads some broken pages again from every `<`, which takes minutes for a page
that is made so.
"""

from __future__ import annotations

import re
from html import unescape

_NAME = re.compile(r"</?([a-zA-Z][a-zA-Z0-9-]*)")
_STOP = re.compile(r"""[>"']""")
_BLOCK = re.compile(
    "address|article|aside|blockquote|br|d[dtl]|div|figure|footer|form|h[1-6r]|header|li|main|nav"
    "|[ou]l|p|pre|section|table|tr"
)
_RAW = frozenset({"script", "style", "title", "textarea"})
"""Elements in which no tag counts but their own end."""
_SILENT = frozenset({"noscript", "template", "svg"})


def plain(html: str) -> tuple[str, str]:
    """Title and text of a page, without scripts and styles; a line for each block."""
    reader = _Reader(html)
    reader.read()
    lines = (re.sub(r"[^\S\n]+", " ", line).strip() for line in "".join(reader.text).split("\n"))
    text = re.sub(r"\n{3,}", "\n\n", "\n".join(lines)).strip()
    return re.sub(r"\s+", " ", reader.title).strip(), text


class _Reader:
    """Where it is in the page, and what it has collected."""

    def __init__(self, html: str) -> None:
        self.text: list[str] = []
        self.title = ""
        self._html = html
        self._place = 0
        self._silent: dict[str, int] = {}

    def read(self) -> None:
        html = self._html
        while self._place < len(html):
            opening = html.find("<", self._place)
            if opening < 0:
                self._say(html[self._place :])
                return
            self._say(html[self._place : opening])
            self._place = opening
            self._step()

    def _step(self) -> None:
        """Past the `<` that stands here and all that belongs to it."""
        html, place = self._html, self._place
        named = _NAME.match(html, place)
        if html.startswith("<!--", place):
            self._place = self._after("-->", place + 4)
        elif named is not None:
            self._place = self._end_of_tag(named.end())
            self._tag(named[1].lower(), closing=html[place + 1] == "/")
        elif html.startswith(("<!", "<?", "</"), place):
            self._place = self._after(">", place)
        else:
            self._say("<")
            self._place = place + 1

    def _tag(self, name: str, *, closing: bool) -> None:
        if name in _RAW and not closing:
            self._raw(name)
        elif name in _SILENT:
            depth = self._silent.get(name, 0) + (-1 if closing else 1)
            self._silent[name] = max(0, depth)
        elif _BLOCK.fullmatch(name):
            self._say("\n")
        elif name in {"td", "th"}:
            self._say(" ")

    def _raw(self, name: str) -> None:
        end = re.compile(f"</{name}", re.IGNORECASE).search(self._html, self._place)
        inside = self._html[self._place : end.start() if end else len(self._html)]
        if name == "title":
            self.title = self.title or unescape(inside)
        elif name == "textarea":
            self._say(inside)
        self._place = end.start() if end else len(self._html)

    def _say(self, piece: str) -> None:
        if not any(self._silent.values()):
            self.text.append(unescape(piece))

    def _end_of_tag(self, place: int) -> int:
        """Past the `>` that ends the tag; one inside quotes does not."""
        while (stop := _STOP.search(self._html, place)) is not None:
            if stop[0] == ">":
                return stop.end()
            place = self._after(stop[0], stop.end())
        return len(self._html)

    def _after(self, mark: str, place: int) -> int:
        """Past the next mark; the end of the page where there is none."""
        found = self._html.find(mark, place)
        return len(self._html) if found < 0 else found + len(mark)
