"""This module lists tools in pages: each tool in the protocol's words, the cursor opaque."""

from __future__ import annotations

import base64
import binascii
from collections import OrderedDict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, cast

import orjson
from mcp.shared.inbound import X_MCP_HEADER_KEY

from toolcrib.resolution.toolset import ResolvedTool, Toolset
from toolcrib.surfaces.mcp.failures import INVALID_PARAMS, RpcError
from toolcrib.surfaces.mcp.wire import dumps
from toolcrib.tools.presentation import presentation_of

PAGE = 500
"""How many tools a page has."""
_REMEMBERED = 128
_MOST_BYTES = 32 * 1024 * 1024
"""How much is remembered of all pages together."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Page:
    """`tools` is a JSON array; `next_cursor` is None on the last page."""

    tools: bytes
    next_cursor: str | None


@dataclass(kw_only=True, slots=True)
class _Listing:
    toolset: Toolset
    tools: Sequence[ResolvedTool]
    pages: dict[tuple[int, bool], Page] = field(default_factory=dict[tuple[int, bool], Page])
    marks: dict[str, bool] = field(default_factory=dict[str, bool])

    @property
    def bytes(self) -> int:
        return sum(len(page.tools) for page in self.pages.values())


class Pages:
    """Remembers the pages of the Toolsets that were listed last: a Toolset never changes."""

    def __init__(self, size: int = PAGE, *, most_bytes: int = _MOST_BYTES) -> None:
        self._size = size
        self._most_bytes = most_bytes
        self._bytes = 0
        self._listings: OrderedDict[int, _Listing] = OrderedDict()

    @property
    def bytes(self) -> int:
        """How much the remembered pages hold together."""
        return self._bytes

    def page(self, toolset: Toolset, cursor: object, *, modern: bool) -> Page:
        """The page behind the cursor, the first one for None. Raises RpcError for a bad cursor."""
        listing = self._listing(toolset)
        start = 0 if cursor is None else _position(cursor, listing.tools)
        page = listing.pages.get((start, modern))
        if page is None:
            page = self._made(listing.tools, start, modern=modern)
            if start % self._size == 0:  # a cursor may name any place, and each is another page
                self._remember(listing, (start, modern), page)
        return page

    def _remember(self, listing: _Listing, place: tuple[int, bool], page: Page) -> None:
        if len(page.tools) > self._most_bytes:
            return
        listing.pages[place] = page
        self._bytes += len(page.tools)
        while self._bytes > self._most_bytes:
            oldest = next(one for one in self._listings.values() if one.pages)
            self._bytes -= len(oldest.pages.pop(next(iter(oldest.pages))).tools)

    def marks_headers(self, toolset: Toolset, tool: ResolvedTool) -> bool:
        """Whether the tool's schema wants arguments repeated in headers."""
        marks = self._listing(toolset).marks
        if tool.name not in marks:
            marks[tool.name] = X_MCP_HEADER_KEY.encode() in dumps(tool.input_schema)
        return marks[tool.name]

    def _listing(self, toolset: Toolset) -> _Listing:
        listing = self._listings.get(id(toolset))
        if listing is None:
            listing = _Listing(toolset=toolset, tools=list(toolset.offered.values()))
            self._listings[id(toolset)] = listing
            while len(self._listings) > _REMEMBERED:
                self._bytes -= self._listings.popitem(last=False)[1].bytes
        else:
            self._listings.move_to_end(id(toolset))
        return listing

    def _made(self, tools: Sequence[ResolvedTool], start: int, *, modern: bool) -> Page:
        shown = tools[start : start + self._size]
        end = start + len(shown)
        return Page(
            tools=dumps([tool_json(tool, modern=modern) for tool in shown]),
            next_cursor=_cursor(end, shown[-1].name) if end < len(tools) else None,
        )


def tool_json(tool: ResolvedTool, *, modern: bool) -> dict[str, Any]:
    """One tool in the protocol's words; what its server said of it stays as it was said."""
    spec, kept = tool.spec, tool.spec.meta
    title = kept.get("title") or presentation_of(spec).display_name
    schema = spec.input_schema if tool.kind == "mcp" else tool.input_schema
    optional = {
        "title": title,
        "description": spec.description,
        "outputSchema": _output_schema(spec.output_schema, modern=modern),
        "annotations": kept.get("annotations") or spec.annotations.as_json(),
        "icons": kept.get("icons"),
        "_meta": kept.get("_meta"),
    }
    return {
        "name": tool.name,
        **{name: value for name, value in optional.items() if value},
        "inputSchema": {"type": "object", **schema},
    }


def _output_schema(schema: Mapping[str, Any] | None, *, modern: bool) -> Mapping[str, Any] | None:
    """Before 2026 a client takes a schema of an object only; the result is there either way."""
    if schema is None or modern or schema.get("type") == "object":
        return schema
    return None


def _cursor(end: int, name: str) -> str:
    return base64.urlsafe_b64encode(orjson.dumps([end, name])).decode().rstrip("=")


def _position(cursor: object, tools: Sequence[ResolvedTool]) -> int:
    """Where the page begins: behind the tool that the last one ended with, wherever it is now."""
    end, name = _read(cursor)
    if 0 < end <= len(tools) and tools[end - 1].name == name:
        return end
    for place, tool in enumerate(tools):
        if tool.name == name:
            return place + 1
    return min(end, len(tools))


def _read(cursor: object) -> tuple[int, str]:
    if isinstance(cursor, str) and 0 < len(cursor) <= 1024:
        try:
            padded = cursor + "=" * (-len(cursor) % 4)
            value = orjson.loads(base64.b64decode(padded, altchars=b"-_", validate=True))
        except (ValueError, binascii.Error):
            value = None
        if isinstance(value, list):
            parts = cast("list[object]", value)
            if len(parts) == 2 and type(parts[0]) is int and isinstance(parts[1], str):
                return max(parts[0], 0), parts[1]
    raise RpcError(
        INVALID_PARAMS,
        "The cursor cannot be read.",
        {"code": "invalid_request", "where": "cursor", "hint": "Send a nextCursor, or none."},
    )
