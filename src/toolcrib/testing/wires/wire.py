"""This module says what a vendor's format does, and holds what the formats share."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Protocol, cast

Body = Mapping[str, Any]


@dataclass(frozen=True, kw_only=True, slots=True)
class WireCall:
    """`arguments` is JSON as text, or whatever the script wants to be sent in its place."""

    id: str
    name: str
    arguments: str


@dataclass(frozen=True, kw_only=True, slots=True)
class Reply:
    """What the model says: a text, or calls of tools."""

    id: str
    model: str
    text: str = ""
    calls: Sequence[WireCall] = ()


class CannotSay(Exception):
    """The script wants something that this format has no words for."""


class Wire(Protocol):
    """One vendor's format."""

    def name_of(self, tool: Body) -> str | None:
        """The function's name; None for a tool that the vendor runs itself."""
        ...

    def results_of(self, body: Body) -> list[str]: ...

    def whole(self, reply: Reply, body: Body) -> dict[str, Any]: ...

    def stream(self, reply: Reply, body: Body) -> str: ...

    def refusal(self, message: str) -> dict[str, Any]: ...


def sse(events: Iterable[dict[str, Any]]) -> str:
    return "".join(f"event: {e['type']}\ndata: {json.dumps(e)}\n\n" for e in events)


def pieces(text: str) -> list[str]:
    """Words with the blank before them, as a stream brings them."""
    return re.findall(r"\s*\S+\s*$|\s*\S+", text)


def items_of(body: Body, name: str) -> list[dict[str, Any]]:
    return cast("list[dict[str, Any]]", body.get(name) or [])


def text_of(content: object) -> str:
    """Text of a content that may be a list of blocks."""
    if isinstance(content, str) or content is None:
        return content or ""
    blocks = cast("list[Any]", content)
    return "".join(b if isinstance(b, str) else str(b.get("text") or "") for b in blocks)
