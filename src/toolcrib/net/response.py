"""This module holds an upstream's answer: read up to a cap, decoded, and safe to turn into text."""

from __future__ import annotations

import codecs
import re
from dataclasses import field
from functools import lru_cache
from typing import TYPE_CHECKING

from multidict import CIMultiDictProxy

from toolcrib.tools.record import record

if TYPE_CHECKING:
    from aiohttp import ClientResponse

    from toolcrib.net.exchange import Answer

    Raw = Answer | ClientResponse
    """An answer whose body is still to come."""

_NO_CHARSETS = frozenset(
    {"idna", "punycode", "raw_unicode_escape", "raw-unicode-escape", "undefined"}
    | {"unicode_escape", "unicode-escape"}
)
"""Python's codecs that no upstream means; decoding a long text by some of them takes minutes."""
_CHARSET = re.compile(r"""charset\s*=\s*["']?([^\s"';,]+)""", re.IGNORECASE)


@record
class Response:
    """`body` is what the upstream meant, content encoding undone, at most `limit` bytes of it.

    `truncated`: there was more. `url` is where the answer came from, after redirects.
    """

    status: int
    headers: CIMultiDictProxy[str] = field(repr=False)
    body: bytes = field(repr=False)
    truncated: bool
    url: str = field(repr=False)

    @property
    def ok(self) -> bool:
        return 200 <= self.status < 300

    @property
    def media_type(self) -> str:
        """`text/html`, without parameters; empty when the upstream names none."""
        return self.headers.get("Content-Type", "").partition(";")[0].strip().lower()

    @property
    def charset(self) -> str:
        """The charset that the upstream names, when Python knows it as one of text; else UTF-8."""
        return _charset_of(self.headers.get("Content-Type", ""))

    def text(self) -> str:
        """The body as text. What does not decode becomes U+FFFD; a cut character is left out."""
        charset = self.charset
        if charset == "utf-8" and self.body.startswith(codecs.BOM_UTF8):
            charset = "utf-8-sig"
        if self.truncated:
            try:
                return codecs.getincrementaldecoder(charset)("replace").decode(self.body)
            except UnicodeError:
                pass  # some decoders want a byte-order mark when they work piece by piece
        return self.body.decode(charset, "replace")


@lru_cache(maxsize=256)
def _charset_of(content_type: str) -> str:
    named = _CHARSET.search(content_type)
    if named is None:
        return "utf-8"
    try:
        name = codecs.lookup(named[1]).name
        "".encode(name)
    except (LookupError, UnicodeError, ValueError):
        return "utf-8"
    return "utf-8" if name in _NO_CHARSETS else name


async def read(raw: Raw, limit: int, *, url: str) -> Response:
    """Read piece by piece, and end the connection when the cap is passed or reading fails."""
    try:
        body = await _pieces(raw, limit)
    except BaseException:
        raw.close()
        raise
    truncated = len(body) > limit
    if truncated:
        raw.close()
    return Response(
        status=raw.status,
        headers=raw.headers,
        body=body[:limit] if truncated else body,
        truncated=truncated,
        url=url,
    )


async def _pieces(raw: Raw, limit: int) -> bytes:
    """The body, or the first pieces of it that together pass the limit."""
    content = raw.content
    if content.is_eof():
        return content.read_nowait()
    pieces: list[bytes] = []
    size = 0
    while size <= limit and (piece := await content.readany()):
        pieces.append(piece)
        size += len(piece)
    return b"".join(pieces)
