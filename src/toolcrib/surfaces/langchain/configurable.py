"""This module reads the `configurable` of a RunnableConfig: who asks, from which chat."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, cast

from toolcrib.errors import InvalidRequest

_OURS = frozenset(
    {"logged_user_id", "group_id", "chat_id", "chat_uuid", "context", "settings"},
)
_INTERNAL = "__"
"""LangGraph keeps objects of its own under keys that start so."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Asker:
    """What a config says of one run. `more` are the keys that only tools understand."""

    user_id: int | None = None
    group_id: int | None = None
    chat_id: int | None = None
    chat_uuid: str | None = None
    context: Mapping[str, Any] | None = None
    settings: Mapping[str, str] = field(default_factory=dict[str, str], repr=False)
    more: Mapping[str, Any] = field(default_factory=dict[str, Any], repr=False)


def asker_of(config: Mapping[str, Any] | None) -> Asker:
    """Raises InvalidRequest with the place of a value that cannot be used."""
    return read_asker((config or {}).get("configurable") or {})


def read_asker(configurable: Mapping[str, Any]) -> Asker:
    return Asker(
        user_id=_integer(configurable, "logged_user_id"),
        group_id=_integer(configurable, "group_id"),
        chat_id=_integer(configurable, "chat_id"),
        chat_uuid=_text(configurable, "chat_uuid"),
        context=_object(configurable, "context"),
        settings=cast("Mapping[str, str]", _object(configurable, "settings") or {}),
        more={
            key: value
            for key, value in configurable.items()
            if key not in _OURS and not key.startswith(_INTERNAL)
        },
    )


def merged(first: Mapping[str, Any], later: Mapping[str, Any]) -> Mapping[str, Any]:
    """The configurable of a call: what the call says, else what the tools were made for.

    A call for another user takes nothing of who the tools were made for.
    """
    user = later.get("logged_user_id")
    if user is not None and user != first.get("logged_user_id"):
        first = {key: value for key, value in first.items() if key not in _OURS}
    return {**first, **{key: value for key, value in later.items() if value is not None}}


def _integer(values: Mapping[str, Any], name: str) -> int | None:
    value = values.get(name)
    if value is None or (isinstance(value, int) and not isinstance(value, bool)):
        return value
    raise _unusable(name, value, "an integer")


def _text(values: Mapping[str, Any], name: str) -> str | None:
    value = values.get(name)
    if value is None or isinstance(value, str):
        return value
    raise _unusable(name, value, "a string")


def _object(values: Mapping[str, Any], name: str) -> Mapping[str, Any] | None:
    value = values.get(name)
    if value is None or isinstance(value, Mapping):
        return cast("Mapping[str, Any] | None", value)
    raise _unusable(name, value, "an object")


def _unusable(name: str, value: object, wanted: str) -> InvalidRequest:
    return InvalidRequest(
        f"{name!r} is {type(value).__name__} and must be {wanted}.", where=f"configurable.{name}"
    )
