"""This module says what a call gives back: parts, a structured value, success or an error."""

from __future__ import annotations

import base64
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal, get_args

from toolcrib.tools.record import no_values, record

ErrorCode = Literal[
    "invalid_arguments",
    "not_granted",
    "secret_missing",
    "undecryptable",
    "blocked",
    "timeout",
    "unreachable",
    "upstream_error",
    "too_large",
    "rate_limited",
    "held",
    "approval_needed",
    "cancelled",
    "outcome_unknown",
    "tool_error",
    "internal",
]
ERROR_CODES: frozenset[str] = frozenset(get_args(ErrorCode))


@dataclass(frozen=True, slots=True)
class TextPart:
    text: str
    meta: Mapping[str, Any] = field(default_factory=no_values)
    extra: Mapping[str, Any] = field(default_factory=no_values)
    """Further keys of the block, such as annotations, kept as they came."""

    def as_json(self) -> dict[str, Any]:
        return {**self.extra, "type": "text", "text": self.text} | _meta(self.meta)


@dataclass(frozen=True, slots=True)
class BlobPart:
    """An image, a sound or a file: bytes with a media type, kept exact."""

    kind: Literal["image", "audio", "file"]
    data: bytes
    mime_type: str
    name: str | None = None
    meta: Mapping[str, Any] = field(default_factory=no_values)
    extra: Mapping[str, Any] = field(default_factory=no_values)
    """Further keys of the block, such as annotations, kept as they came."""

    def as_json(self) -> dict[str, Any]:
        text = base64.b64encode(self.data).decode()
        named = {"name": self.name} if self.name else {}
        block = {"type": self.kind, "data": text, "mimeType": self.mime_type}
        return {**self.extra, **block} | named | _meta(self.meta)


@dataclass(frozen=True, slots=True)
class JsonPart:
    """A content block of a kind we only pass through (a resource link, an embedded resource)."""

    value: Mapping[str, Any]

    def as_json(self) -> dict[str, Any]:
        return dict(self.value)


Part = TextPart | BlobPart | JsonPart


def _meta(meta: Mapping[str, Any]) -> dict[str, Any]:
    return {"_meta": dict(meta)} if meta else {}


@dataclass(frozen=True, slots=True)
class Failure:
    """Why a call has no good result, in words that a model can act on."""

    code: ErrorCode
    message: str

    def as_json(self) -> dict[str, str]:
        return {"code": self.code, "message": self.message}


@record
class Output:
    """What a tool answered. A failed tool is an Output with an `error`, never an exception."""

    parts: Sequence[Part] = ()
    structured: Any = None
    error: Failure | None = None
    truncated: bool = False
    meta: Mapping[str, Any] = field(default_factory=no_values)
    searched: bool = False
    """Its source has looked: no value that was resolved for the call is in it."""

    @property
    def success(self) -> bool:
        return self.error is None

    @property
    def text(self) -> str:
        """The text parts joined by newlines; a failure without text shows its message."""
        joined = "\n".join(part.text for part in self.parts if isinstance(part, TextPart))
        return joined or (self.error.message if self.error else "")

    @classmethod
    def of_text(cls, text: str, *, structured: Any = None) -> Output:
        return cls(parts=(TextPart(text),), structured=structured)

    @classmethod
    def failed(cls, code: ErrorCode, message: str, **fields: Any) -> Output:
        return cls(parts=(TextPart(message),), error=Failure(code, message), **fields)
