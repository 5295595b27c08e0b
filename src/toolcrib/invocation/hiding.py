"""This module takes the values that were resolved for a call out of its result."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from typing import Any

from toolcrib.secrets.masking import Masker
from toolcrib.tools.result import Failure, JsonPart, Output, Part, TextPart


def masked(output: Output, masker: Masker) -> Output:
    """The same output without the values; the output itself where none of them is in it."""
    if not masker.finds(*_said(output)):
        return output
    error = output.error
    return replace(
        output,
        parts=tuple(_part(part, masker) for part in output.parts),
        structured=masker.value(output.structured),
        error=error and Failure(error.code, masker.text(error.message)),
        meta=masker.value(output.meta),
    )


def _said(output: Output) -> Iterable[Any]:
    """Everything in an output that an upstream may have written."""
    said: list[Any] = [output.structured]
    if output.error is not None:
        said.append(output.error.message)
    if output.meta:
        said.append(output.meta)
    for part in output.parts:
        if isinstance(part, JsonPart):
            said.append(part.value)
            continue
        if isinstance(part, TextPart):
            said.append(part.text)
        else:
            said += (part.data, part.mime_type, part.name)
        if part.meta or part.extra:
            said += (part.meta, part.extra)
    return said


def _part(part: Part, masker: Masker) -> Part:
    if isinstance(part, JsonPart):
        return JsonPart(masker.value(part.value))
    meta, extra = masker.value(part.meta), masker.value(part.extra)
    if isinstance(part, TextPart):
        return replace(part, text=masker.text(part.text), meta=meta, extra=extra)
    return replace(
        part,
        data=masker.data(part.data),
        mime_type=masker.text(part.mime_type),
        name=part.name and masker.text(part.name),
        meta=meta,
        extra=extra,
    )
