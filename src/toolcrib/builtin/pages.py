"""This module reads web pages for a model: fetched through the guard, turned into plain text."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from toolcrib.builtin.markup import plain
from toolcrib.errors import CallFailed
from toolcrib.net.response import Response
from toolcrib.plugin.web import Web

LIMIT = 2 * 1024 * 1024
"""How many bytes of a page are read."""
LONGEST = 50_000
"""How many characters of its text are shown."""
_HEADERS = {"Accept": "text/html, text/plain, application/json;q=0.9, */*;q=0.1"}


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
        title, text = await asyncio.to_thread(plain, text)
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
