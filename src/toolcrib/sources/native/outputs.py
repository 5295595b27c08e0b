"""This module turns what a tool returned into an Output, whatever it is."""

from __future__ import annotations

import dataclasses
import json
from collections import deque
from collections.abc import ItemsView, Iterable, KeysView, Mapping, ValuesView
from typing import Any, cast

import orjson

from toolcrib.sources.native.blocks import is_blocks, parts_of_blocks
from toolcrib.tools.addresses import has_address, kind_in
from toolcrib.tools.result import BlobPart, Output, TextPart

_LOOSE = orjson.OPT_NON_STR_KEYS | orjson.OPT_SERIALIZE_NUMPY
_LISTED = (set, frozenset, tuple, range, deque, KeysView, ValuesView, ItemsView)
_SIMPLE = (str, bytes, bytearray, int, float, bool, list, tuple, dict, type(None))


def output_of(value: Any, *, tool: str, artifact: Any = None) -> Output:
    """Text stays text; JSON becomes text and `structured`; bytes a file; blocks their parts.

    `artifact` is LangChain's second half of a result: `structured` when it is JSON.
    """
    made = _output(value, tool)
    if artifact is None or made.error is not None:
        return made
    text = json_text(artifact)
    return made if text is None else dataclasses.replace(made, structured=orjson.loads(text))


def _output(value: Any, tool: str) -> Output:
    if isinstance(value, str):
        return Output(parts=(TextPart(str(value)),))
    if value is None:
        return Output(parts=(TextPart(""),))
    if isinstance(value, Output):
        return value
    if isinstance(value, bytes | bytearray):
        return Output(parts=(BlobPart("file", bytes(value), "application/octet-stream"),))
    if not isinstance(value, _SIMPLE):
        special = _special(value, tool)
        if special is not None:
            return special
    elif isinstance(value, list | tuple) and is_blocks(cast("list[Any]", value)):
        return Output(parts=parts_of_blocks(cast("list[Any]", value)))
    text = json_text(value)
    if text is None:
        return _in_words(str(cast("object", value)), type(cast("object", value)).__name__, tool)
    return Output(parts=(TextPart(text),), structured=orjson.loads(text))


def _in_words(text: str, kind: str, tool: str) -> Output:
    """What has no JSON form, as its own text: a failure where that is only an address."""
    if not has_address(text):
        return Output(parts=(TextPart(text),))
    inside = kind_in(text) or "object"
    what = f"a value of type {kind}" + ("" if inside == kind else f" that holds one of {inside}")
    return Output.failed(
        "tool_error",
        f"{tool} returned {what}, which is neither text nor JSON. "
        "Its author should return text, JSON, bytes or content blocks.",
    )


def _special(value: Any, tool: str) -> Output | None:
    """Messages and commands of LangChain, known by name so that it need not be imported."""
    names = {f"{kind.__module__}.{kind.__name__}" for kind in type(value).__mro__}
    if "langchain_core.messages.base.BaseMessage" in names:
        content = value.content
        if isinstance(content, str) and has_address(content) and content.startswith("<"):
            return _in_words(content, kind_in(content) or "object", tool)  # as LangChain put it
        made = output_of(content, tool=tool, artifact=getattr(value, "artifact", None))
        if getattr(value, "status", "success") == "error":
            return dataclasses.replace(
                Output.failed("tool_error", made.text or "The tool reported an error."),
                parts=made.parts,
            )
        return made
    if "langgraph.types.Command" in names:
        return Output.failed(
            "tool_error",
            f"{tool} returned a LangGraph Command, which changes the state of a graph; "
            "a call through Toolcrib has no graph to change.",
        )
    return None


def json_text(value: Any) -> str | None:
    """The value as JSON, foreign objects included where they have an obvious form; else None."""
    try:
        return orjson.dumps(value, default=_plain, option=_LOOSE).decode()
    except (TypeError, ValueError, RecursionError):
        pass
    try:  # integers beyond 64 bits, lone surrogates
        text = json.dumps(value, default=_plain)
        orjson.loads(text)
    except (TypeError, ValueError, RecursionError):
        return None
    return text


def _plain(value: Any) -> Any:
    dump = getattr(value, "model_dump", None)
    if callable(dump):
        return dump(mode="json")
    if isinstance(value, bytes | bytearray):
        return value.decode("utf-8", "replace")
    if isinstance(value, _LISTED):
        return list(cast("Iterable[Any]", value))
    if isinstance(value, Mapping):
        return dict(cast("Mapping[Any, Any]", value))
    if type(value).__str__ is object.__str__ or has_address(text := str(value)):
        raise TypeError(f"{type(value).__name__} has no JSON form")
    return text
