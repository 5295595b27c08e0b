"""This module cuts a result that is larger than a model can use, and says so in the text."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Final

import orjson

from toolcrib.tools.result import BlobPart, Failure, Output, Part, TextPart

MOST_PARTS: Final = 10_000
"""Parts of one result that are kept: each has an envelope of its own, however little it holds."""


LONGEST_MESSAGE: Final = 16_384
"""Characters of an error's message: it stands in the journal and in every list of calls."""


def capped(output: Output, limit: int) -> Output:
    """At most `limit` bytes of content in all, and what says that something is missing.

    Text is cut at a character, blobs go whole; one line stands for what no longer fits.
    """
    if output.error is not None and len(output.error.message) > LONGEST_MESSAGE:
        output = replace(output, error=_told_shorter(output.error), truncated=True)
    if _fits(output, limit):
        return output
    kept, rest = _first_of(output.parts, limit)
    if rest:
        kept.append(
            TextPart(f"[left out: {len(rest)} more parts of {sum(map(_size, rest))} bytes]")
        )
    fits = output.structured is not None and _json_size(output.structured) <= limit
    return replace(
        output,
        parts=tuple(kept),
        structured=output.structured if fits else None,
        truncated=True,
    )


def _first_of(parts: Sequence[Part], limit: int) -> tuple[list[Part], Sequence[Part]]:
    """What fits, the last of it cut, and the parts behind."""
    left = limit
    kept: list[Part] = []
    for part in parts[:MOST_PARTS]:
        if left <= 0:
            break
        short = _short(part, left)
        left -= _size(short)
        kept.append(short)
    return kept, parts[len(kept) :]


def _told_shorter(error: Failure) -> Failure:
    size = len(error.message)
    head = error.message[:LONGEST_MESSAGE]
    return replace(error, message=f"{head}\n[cut: {size} characters in all]")


def _fits(output: Output, limit: int) -> bool:
    size = 0
    for part in output.parts:
        size += _size(part)
    if size > limit or len(output.parts) > MOST_PARTS:
        return False
    # The structured value of a small text is nearly always the same value once more.
    return output.structured is None or _json_size(output.structured) <= limit


def _size(part: Part) -> int:
    if isinstance(part, TextPart):
        text = part.text
        return len(text) if text.isascii() else len(text.encode(errors="surrogatepass"))
    return len(part.data) if isinstance(part, BlobPart) else _json_size(part.value)


def _json_size(value: object) -> int:
    try:
        return len(orjson.dumps(value, default=str))
    except (TypeError, ValueError):
        return len(repr(value))


def _short(part: Part, left: int) -> Part:
    size = _size(part)
    if size <= left:
        return part
    if isinstance(part, TextPart):
        head = part.text.encode(errors="replace")[:left].decode(errors="ignore")
        return replace(part, text=f"{head}\n[cut: {size} bytes in all, {left} shown]")
    kind = part.kind if isinstance(part, BlobPart) else str(part.value.get("type", "content"))
    return TextPart(f"[left out: {kind} of {size} bytes]")
