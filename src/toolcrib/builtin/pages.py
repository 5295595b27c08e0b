"""This module reads web pages for a model: fetched through the guard, turned into plain text."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from html.parser import HTMLParser
from typing import Any

from toolcrib.errors import CallFailed
from toolcrib.net.response import Response
from toolcrib.plugin.web import Web

LIMIT = 2 * 1024 * 1024
"""How many bytes of a page are read."""
LONGEST = 50_000
"""How many characters of its text are shown."""
_HEADERS = {"Accept": "text/html, text/plain, application/json;q=0.9, */*;q=0.1"}
_SILENT = frozenset({"script", "style", "noscript", "template", "svg", "head"})
_BLOCKS = re.compile(
    "address|article|aside|blockquote|br|d[dtl]|div|figure|footer|form|h[1-6r]|header|li|main|nav"
    "|[ou]l|p|pre|section|table|tr"
)


@dataclass(frozen=True, kw_only=True, slots=True)
class Page:
    """`truncated`: there was more text."""

    url: str
    title: str
    text: str
    truncated: bool

    def as_json(self) -> Mapping[str, Any]:
        return {
            "url": self.url,
            "title": self.title,
            "text": self.text,
            "truncated": self.truncated,
        }


async def read_page(web: Web, url: str) -> Page:
    """Raises CallFailed for an answer that is no text, and what the guard and the server raise."""
    answer = await web.request("GET", url, headers=_HEADERS, limit=LIMIT, follow_redirects=True)
    text = text_of(answer, url)
    title = ""
    if "html" in answer.media_type or text.lstrip()[:15].lower().startswith(("<!doctype", "<html")):
        title, text = plain(text)
    cut = answer.truncated or len(text) > LONGEST
    return Page(url=answer.url, title=title, text=text[:LONGEST], truncated=cut)


def text_of(answer: Response, url: str) -> str:
    """The text of a good answer. Raises CallFailed for another status, and for bytes."""
    if not answer.ok:
        raise CallFailed(f"{url} answered HTTP {answer.status}.")
    kind = answer.media_type
    textual = kind.startswith("text/") or kind.endswith(("json", "xml", "javascript", "yaml"))
    if kind and not textual and "html" not in kind:
        raise CallFailed(f"{url} is {kind}, which is no text.")
    return answer.text()


def plain(html: str) -> tuple[str, str]:
    """Title and text of a page, without scripts and styles; a line for each block."""
    reader = _Reader()
    reader.feed(html)
    reader.close()
    lines = (re.sub(r"[^\S\n]+", " ", line).strip() for line in "".join(reader.pieces).split("\n"))
    text = re.sub(r"\n{3,}", "\n\n", "\n".join(lines)).strip()
    return re.sub(r"\s+", " ", "".join(reader.title)).strip(), text


class _Reader(HTMLParser):
    """Collects what a reader would see."""

    def __init__(self) -> None:
        super().__init__(convert_charrefs=True)
        self.pieces: list[str] = []
        self.title: list[str] = []
        self._silent = 0
        self._in_title = False

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        if tag == "body":
            self._silent = 0  # whatever the head left open
        if tag == "title":
            self._in_title = not self.title
        elif tag in _SILENT:
            self._silent += 1
        elif _BLOCKS.fullmatch(tag):
            self.pieces.append("\n")
        elif tag in {"td", "th"}:
            self.pieces.append(" ")

    def handle_endtag(self, tag: str) -> None:
        if tag == "title":
            self._in_title = False
        elif tag in _SILENT:
            self._silent = max(0, self._silent - 1)
        elif _BLOCKS.fullmatch(tag):
            self.pieces.append("\n")

    def handle_data(self, data: str) -> None:
        if self._in_title:
            self.title.append(data)
        elif not self._silent:
            self.pieces.append(data)
