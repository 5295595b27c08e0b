"""This module turns a server's answer to a call into an Output, with everything that was in it.

Text stays text; every other kind of content is passed through as the server wrote it.
"""

from __future__ import annotations

import base64
import binascii
from collections.abc import Mapping, Sequence
from typing import Any, Literal, cast

import jsonschema_rs

from toolcrib.tools.result import BlobPart, Failure, JsonPart, Output, Part, TextPart

MOST_PARTS = 10_000
"""How many parts of a result are kept: each costs far more than its text."""
_BLOBS: Mapping[str, Literal["image", "audio"]] = {"image": "image", "audio": "audio"}
_OURS = {"type", "text", "data", "mimeType", "_meta"}
_OWN = "toolcrib/"
"""What keys of `_meta` begin with that only this program may set."""
WARNINGS = f"{_OWN}warnings"
"""The key of `_meta` under which a result says what is odd about it."""


def output_of(
    raw: Mapping[str, Any], schema: jsonschema_rs.Validator | None = None, *, name: str = ""
) -> Output:
    """`schema` is the compiled output schema; a result that does not fit it says so in `meta`."""
    content = raw.get("content")
    if not isinstance(content, list) or raw.get("resultType", "complete") != "complete":
        return _no_result(raw, name)
    listed = cast("list[object]", content)
    parts = tuple(map(_part, listed[:MOST_PARTS]))
    cut = len(listed) > MOST_PARTS
    structured = raw.get("structuredContent")
    meta = _meta(raw.get("_meta"))
    if raw.get("isError") is True:
        words = "\n".join(part.text for part in parts if isinstance(part, TextPart))
        failure = Failure("tool_error", words or f"{name} failed and does not say why.")
        return Output(parts=parts, structured=structured, error=failure, meta=meta, truncated=cut)
    warning = _misfit(raw, schema)
    if warning:
        meta[WARNINGS] = [warning]
    return Output(parts=parts, structured=structured, meta=meta, truncated=cut)


def _meta(given: object) -> dict[str, Any]:
    """What the server says beside its result. Our keys it cannot set: clients believe them."""
    if not isinstance(given, Mapping):
        return {}
    told = cast("Mapping[str, Any]", given)
    return {key: value for key, value in told.items() if not key.startswith(_OWN)}


def _no_result(raw: Mapping[str, Any], name: str) -> Output:
    if raw.get("resultType") == "input_required":
        return Output.failed(
            "tool_error", f"{name} asks for input from a person, and nobody can be asked here."
        )
    return Output.failed("upstream_error", f"The server's result of {name} is malformed.")


def _part(block: object) -> Part:
    if not isinstance(block, Mapping):
        return JsonPart({"type": "unknown", "value": block})
    given = cast("Mapping[str, Any]", block)
    kind = given.get("type")
    meta = given.get("_meta", {})
    if not isinstance(meta, Mapping):
        return JsonPart(dict(given))
    meta = cast("Mapping[str, Any]", meta)
    extra = {key: value for key, value in given.items() if key not in _OURS}
    if kind == "text" and isinstance(given.get("text"), str):
        return TextPart(given["text"], meta=meta, extra=extra)
    mime_type, data = given.get("mimeType"), _decoded(given.get("data"))
    blob = _BLOBS.get(kind) if isinstance(kind, str) else None
    if blob is not None and isinstance(mime_type, str) and data is not None:
        return BlobPart(kind=blob, data=data, mime_type=mime_type, meta=meta, extra=extra)
    return JsonPart(dict(given))


def _decoded(data: object) -> bytes | None:
    """The bytes of base64 that would come out the same again."""
    if not isinstance(data, str):
        return None
    try:
        found = base64.b64decode(data, validate=True)
    except (binascii.Error, ValueError):
        return None
    return found if base64.b64encode(found).decode() == data else None


def _misfit(raw: Mapping[str, Any], schema: jsonschema_rs.Validator | None) -> str | None:
    """Why a result does not fit what its tool promised."""
    if schema is None:
        return None
    if "structuredContent" not in raw:
        return "The tool has an output schema and gave no structured content."
    for error in schema.iter_errors(raw["structuredContent"]):
        place = ".".join(map(str, cast("Sequence[object]", error.instance_path))) or "the top"
        return f"The structured content does not fit the output schema at {place}."
    return None


def compiled(schema: Mapping[str, Any] | None) -> jsonschema_rs.Validator | None:
    """A validator that reads nothing from outside; None for a schema that cannot be used."""
    if schema is None:
        return None
    try:
        return jsonschema_rs.validator_for(dict(schema), mask="***", retriever=_refuse)
    except (ValueError, jsonschema_rs.ValidationError):
        return None


def _refuse(uri: str) -> Any:
    raise ValueError(f"{uri!r} is not followed")
