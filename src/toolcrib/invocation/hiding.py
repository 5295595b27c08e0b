"""This module takes the values that were resolved for a call out of its result."""

from __future__ import annotations

from dataclasses import replace

from toolcrib.secrets.masking import Masker
from toolcrib.tools.result import BlobPart, Failure, JsonPart, Output, Part, TextPart


def masked(output: Output, masker: Masker) -> Output:
    """The same output without the values; the output itself where none of them is in it."""
    parts = tuple(_part(part, masker) for part in output.parts)
    structured = masker.value(output.structured)
    error = output.error and _failure(output.error, masker)
    meta = masker.value(output.meta) if output.meta else output.meta
    if (
        structured is output.structured
        and error is output.error
        and meta is output.meta
        and all(new is old for new, old in zip(parts, output.parts, strict=True))
    ):
        return output
    return replace(output, parts=parts, structured=structured, error=error, meta=meta)


def _failure(failure: Failure, masker: Masker) -> Failure:
    message = masker.text(failure.message)
    return failure if message is failure.message else Failure(failure.code, message)


def _part(part: Part, masker: Masker) -> Part:
    if isinstance(part, JsonPart):
        value = masker.value(part.value)
        return part if value is part.value else JsonPart(value)
    changes: dict[str, object] = {}
    if isinstance(part, TextPart):
        changes["text"] = masker.text(part.text)
    else:
        changes |= _blob(part, masker)
    if part.meta or part.extra:
        changes |= {"meta": masker.value(part.meta), "extra": masker.value(part.extra)}
    if all(getattr(part, name) is value for name, value in changes.items()):
        return part
    return replace(part, **changes)


def _blob(part: BlobPart, masker: Masker) -> dict[str, object]:
    return {
        "data": masker.data(part.data),
        "mime_type": masker.text(part.mime_type),
        "name": part.name and masker.text(part.name),
    }
