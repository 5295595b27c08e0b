"""This module words an Outcome as the result of `tools/call`: what the tool gave, unchanged."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from toolcrib.invocation.flight import Outcome
from toolcrib.surfaces.mcp.wire import dumps
from toolcrib.tools.result import BlobPart, JsonPart, Output, Part

ERROR: Final = "toolcrib/error"
"""The key of `_meta` under which a call that Toolcrib failed has its code and id."""
TRUNCATED: Final = "toolcrib/truncated"
SERVER_INFO: Final = "io.modelcontextprotocol/serverInfo"
_KINDS = frozenset({"text", "image", "audio", "resource", "resource_link"})


def call_result(outcome: Outcome, *, modern: bool) -> dict[str, Any]:
    """The result without the envelope of its era."""
    output = outcome.output
    content = [_block(part, outcome.call_id) for part in output.parts]
    structured = output.structured
    if structured is not None and not content and not _is_theirs(outcome):
        content = [{"type": "text", "text": dumps(structured).decode()}]
    result: dict[str, Any] = {"content": content}
    if structured is not None:
        if modern or isinstance(structured, Mapping):
            result["structuredContent"] = structured
        elif not content:  # before 2026 it has to be an object
            content.append({"type": "text", "text": dumps(structured).decode()})
    if output.error is not None:
        result["isError"] = True
    if meta := _meta(outcome, output):
        result["_meta"] = meta
    return result


def _meta(outcome: Outcome, output: Output) -> dict[str, Any]:
    meta = {key: value for key, value in output.meta.items() if key != SERVER_INFO}
    error = output.error
    if error is not None and not (error.code == "tool_error" and _is_theirs(outcome)):
        meta[ERROR] = {"code": error.code, "call_id": outcome.call_id}
    if output.truncated:
        meta[TRUNCATED] = True
    return meta


def _is_theirs(outcome: Outcome) -> bool:
    """Whether an MCP server gave the result: then nothing is added to it."""
    return outcome.ref.startswith("mcp:")


def _block(part: Part, call_id: str) -> dict[str, Any]:
    if isinstance(part, BlobPart) and part.kind == "file":
        return _file(part, call_id)
    block = part.as_json()
    if isinstance(part, JsonPart) and not _is_known(block.get("type")):
        return {"type": "text", "text": dumps(block).decode()}
    return block


def _is_known(kind: object) -> bool:
    return isinstance(kind, str) and kind in _KINDS


def _file(part: BlobPart, call_id: str) -> dict[str, Any]:
    """A file is an embedded resource: the protocol has no content of that kind."""
    given = part.as_json()
    uri = f"toolcrib://calls/{call_id}/{part.name or 'file'}"
    resource = {"uri": uri, "mimeType": part.mime_type, "blob": given["data"]}
    return {"type": "resource", "resource": resource}
