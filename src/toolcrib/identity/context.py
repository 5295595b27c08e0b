"""This module describes a caller's chat: the facts that runtime conditions read."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass, fields, replace
from typing import Any, Literal, cast, get_args

from toolcrib.errors import InvalidRequest

PageType = Literal["text", "html", "react"]
Environment = Literal["production", "development"]


@dataclass(frozen=True, kw_only=True, slots=True)
class Context:
    """What is known of one chat. They choose among granted tools and never grant."""

    page_type: PageType = "text"
    parent_chat_id: int | None = None
    scheduled_jobs_enabled: bool = False
    documents_enabled: bool = False
    collections_enabled: bool = False
    temporary: bool = False
    global_memory: bool = True
    environment: Environment = "production"
    """The operator's, from `TOOLCRIB_ENVIRONMENT`; a chat cannot set it."""

    @classmethod
    def of(cls, values: Mapping[str, Any] | None, *, environment: Environment) -> Context:
        """Read a JSON object. Raises InvalidRequest with the key that cannot be used."""
        given = dict(values or {})
        if given.pop("environment", environment) != environment:
            raise InvalidRequest(
                "The environment is the operator's and cannot be set by a chat.",
                where="context.environment",
                hint="Leave the key out.",
            )
        known = [field.name for field in fields(cls)] if given else []
        for key, value in given.items():
            if key not in known:
                raise InvalidRequest(
                    f"Unknown context key {key!r}.",
                    where=f"context.{key}",
                    hint=f"Known: {', '.join(known)}.",
                )
            if not _fits(key, value):
                raise InvalidRequest(
                    f"The context key {key!r} cannot be {value!r}.",
                    where=f"context.{key}",
                    hint=f"Expected {_expected(key)}.",
                )
        return replace(cls(environment=environment), **given)

    def as_json(self) -> dict[str, Any]:
        return asdict(self)


def _fits(key: str, value: object) -> bool:
    if key == "page_type":
        return value in get_args(PageType)
    if key == "parent_chat_id":
        return value is None or (isinstance(value, int) and not isinstance(value, bool))
    return isinstance(value, bool)


def _expected(key: str) -> str:
    if key == "page_type":
        return " or ".join(cast("tuple[str, ...]", get_args(PageType)))
    return "an integer or null" if key == "parent_chat_id" else "true or false"
