"""This module words an Output as a message: content that a model reads, an artifact for code."""

from __future__ import annotations

from typing import Any

import orjson

from toolcrib.invocation.flight import Outcome
from toolcrib.tools.result import BlobPart, Output, Part, TextPart

Blocks = str | list[str | dict[str, Any]]
"""A message's content in LangChain's standard form."""


def content(output: Output) -> Blocks:
    """Text as one string; with pictures in between, blocks."""
    if not output.parts and output.structured is not None:
        return orjson.dumps(output.structured, default=str).decode()
    if not any(isinstance(part, BlobPart) and part.kind == "image" for part in output.parts):
        return "\n".join(map(_words, output.parts)) or output.text
    return [_block(part) for part in output.parts]


def _block(part: Part) -> dict[str, Any]:
    if isinstance(part, BlobPart) and part.kind == "image":
        shown = part.as_json()
        return {"type": "image", "base64": shown["data"], "mime_type": part.mime_type}
    return {"type": "text", "text": _words(part)}


def _words(part: Part) -> str:
    if isinstance(part, TextPart):
        return part.text
    if isinstance(part, BlobPart):
        return f"[{part.kind} {part.name or ''}, {part.mime_type}, {len(part.data)} bytes]"
    return orjson.dumps(part.value, default=str).decode()


def artifact(outcome: Outcome | Output) -> dict[str, Any]:
    """What REST answers to the same call, for code that reads `ToolMessage.artifact`."""
    output = outcome if isinstance(outcome, Output) else outcome.output
    made = isinstance(outcome, Outcome)
    return {
        "call_id": outcome.call_id if made else None,
        "success": output.success,
        "text": output.text,
        "content": [part.as_json() for part in output.parts],
        "structured": output.structured,
        "error": output.error.as_json() if output.error else None,
        "truncated": output.truncated,
        "duration_ms": outcome.duration_ms if made else None,
    }
