"""This module cuts lists into pages: `{items, next_cursor}`, the cursor opaque to its reader."""

from __future__ import annotations

import base64
import binascii
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Annotated, Any, TypeVar

import orjson
from fastapi import Depends, Query

from toolcrib.errors import InvalidRequest

MAX_LIMIT = 200
_LARGEST = 2**63 - 1
_TEXT = re.compile(r"[^\0\ud800-\udfff]{0,512}")
Row = TypeVar("Row")
Item = TypeVar("Item")
Position = int | str


@dataclass(frozen=True, slots=True)
class Paging:
    """What a list was asked for. One more row than `limit` tells whether there is a next page."""

    limit: int
    cursor: str | None

    @property
    def wanted(self) -> int:
        return self.limit + 1

    def after_id(self) -> int:
        """The id behind which the page begins. Raises InvalidRequest for a bad cursor."""
        position = self._position()
        if position is None:
            return 0
        if isinstance(position, int) and 0 <= position <= _LARGEST:
            return position
        raise _bad()

    def after_text(self, form: re.Pattern[str] = _TEXT) -> str | None:
        """The text of this form behind which the page begins."""
        position = self._position()
        if position is None or (isinstance(position, str) and form.fullmatch(position)):
            return position
        raise _bad()

    def _position(self) -> Position | None:
        if self.cursor is None:
            return None
        try:
            text = base64.b64decode(self.cursor.encode("ascii"), altchars=b"-_", validate=True)
            value = orjson.loads(text)
        except (ValueError, binascii.Error):
            raise _bad() from None
        if isinstance(value, str) or (isinstance(value, int) and not isinstance(value, bool)):
            return value
        raise _bad()


async def paging(
    limit: Annotated[int, Query(ge=1, le=MAX_LIMIT, description="How many items.")] = 50,
    cursor: Annotated[
        str | None, Query(max_length=1024, description="The `next_cursor` of the page before.")
    ] = None,
) -> Paging:
    return Paging(limit, cursor)


async def short_paging(
    limit: Annotated[
        int | None, Query(ge=1, le=MAX_LIMIT, description="How many items; without it all.")
    ] = None,
    cursor: Annotated[
        str | None, Query(max_length=1024, description="The `next_cursor` of the page before.")
    ] = None,
) -> Paging:
    return Paging(_LARGEST if limit is None else limit, cursor)


Asked = Annotated[Paging, Depends(paging)]
AskedWhole = Annotated[Paging, Depends(short_paging)]
"""Of a list that is short: it comes whole unless a limit is named."""


def page(
    rows: Sequence[Row],
    asked: Paging,
    shape: Callable[[Row], Item],
    position: Callable[[Row], Position],
) -> dict[str, Any]:
    """The page of these rows, of which there may be one more than asked for."""
    shown = rows[: asked.limit]
    more = len(rows) > asked.limit
    return {
        "items": [shape(row) for row in shown],
        "next_cursor": _cursor(position(shown[-1])) if more else None,
    }


def whole(items: Sequence[Any], asked: Paging | None = None) -> dict[str, Any]:
    """A short list in the form of the others. Its cursors count; nobody asked: one page."""
    if asked is None:
        return {"items": list(items), "next_cursor": None}
    start = asked.after_id()
    end = start + asked.limit
    return {
        "items": list(items[start:end]),
        "next_cursor": _cursor(end) if end < len(items) else None,
    }


def _cursor(position: Position) -> str:
    return base64.urlsafe_b64encode(orjson.dumps(position)).decode()


def _bad() -> InvalidRequest:
    return InvalidRequest(
        "The cursor cannot be read.",
        where="cursor",
        hint="Send the next_cursor of the page before, or none.",
    )
