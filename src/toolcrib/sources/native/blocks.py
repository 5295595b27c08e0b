"""This module reads content blocks, the lists that tools return for text, images and files.

Three spellings are in use (LangChain's standard one, OpenAI's and Anthropic's); what is none of
them is passed through as it is.
"""

from __future__ import annotations

import base64
import binascii
from collections.abc import Mapping, Sequence
from typing import Any, Literal, cast

from toolcrib.tools.result import BlobPart, JsonPart, Part, TextPart

_TYPES = frozenset(
    {
        "text",
        "image",
        "image_url",
        "audio",
        "file",
        "document",
        "json",
        "search_result",
        "custom_tool_call_output",
    }
)
_KINDS: Mapping[str, Literal["image", "audio", "file"]] = {
    "image": "image",
    "image_url": "image",
    "audio": "audio",
    "file": "file",
    "document": "file",
}
_DEFAULT_TYPES = {
    "image": "image/png",
    "audio": "audio/wav",
    "file": "application/octet-stream",
}


def is_blocks(items: Sequence[Any]) -> bool:
    """Whether a list is content rather than data: typed blocks, and text between them."""
    return any(isinstance(item, dict) for item in items) and all(
        isinstance(item, str) or _is_block(item) for item in items
    )


def parts_of_blocks(items: Sequence[Any]) -> tuple[Part, ...]:
    return tuple(TextPart(item) if isinstance(item, str) else _part(item) for item in items)


def _is_block(item: object) -> bool:
    if not isinstance(item, dict):
        return False
    block = cast("dict[str, Any]", item)
    kind = block.get("type")
    if kind == "text":
        return isinstance(block.get("text"), str)
    return isinstance(kind, str) and kind in _TYPES


def _part(block: Mapping[str, Any]) -> Part:
    kind = str(block["type"])
    if kind == "text":
        return TextPart(block["text"])
    if kind in _KINDS:
        blob = _blob(block, _KINDS[kind])
        if blob is not None:
            return blob
    return JsonPart(dict(block))


def _blob(block: Mapping[str, Any], kind: Literal["image", "audio", "file"]) -> BlobPart | None:
    given, mime_type = _encoded(block)
    if not isinstance(given, str):
        return None
    try:
        data = base64.b64decode(given, validate=True)
    except (binascii.Error, ValueError):
        return None
    name = block.get("filename") or block.get("name")
    return BlobPart(
        kind,
        data,
        mime_type if isinstance(mime_type, str) else _DEFAULT_TYPES[kind],
        name=name if isinstance(name, str) else None,
    )


def _encoded(block: Mapping[str, Any]) -> tuple[object, object]:
    """The base64 text and the media type, wherever this spelling keeps them."""
    source = block.get("source")
    if isinstance(source, dict):
        inner = cast("dict[str, Any]", source)
        return inner.get("data") if inner.get("type") == "base64" else None, inner.get("media_type")
    link = block.get("image_url")
    if isinstance(link, dict):
        link = cast("dict[str, Any]", link).get("url")
    link = link if link is not None else block.get("url")
    if isinstance(link, str) and link.startswith("data:"):
        head, _, data = link.partition(";base64,")
        return data or None, head.removeprefix("data:") or None
    mime_type = block.get("mime_type") or block.get("mimeType")
    data = block.get("base64")
    return data if data is not None else block.get("data"), mime_type
