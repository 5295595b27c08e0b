"""This module holds the runtime conditions: a table of predicates over the caller's context.

A condition chooses among the tools of a code that was granted; it never grants. What it adds or
puts in place must therefore be a part of its own code: `rag` may bring `rag_documents`, nothing
else may come that way.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

from toolcrib.identity.context import Context


@dataclass(frozen=True, kw_only=True, slots=True)
class Situation:
    """What a condition may look at. `settings` maps the names that are set to their status."""

    context: Context
    in_chat: bool
    user_id: int
    group_id: int | None
    settings: Mapping[str, str] = field(default_factory=dict[str, str])


@dataclass(frozen=True, kw_only=True, slots=True)
class Choice:
    """What a condition decided for its code.

    `codes` are the codes to use, the condition's own among them or not; an empty tuple drops the
    code, and then `reason` and `fix` say why and what would bring it back.
    """

    codes: tuple[str, ...]
    reason: str = ""
    fix: str = ""


Condition = Callable[[Situation], Choice]


def keep(code: str, *more: str) -> Choice:
    return Choice(codes=(code, *more))


def drop(reason: str, fix: str) -> Choice:
    return Choice(codes=(), reason=reason, fix=fix)


def _base(situation: Situation) -> Choice:
    return keep("base", "base_dev") if _developing(situation) else keep("base")


def _base_dev(situation: Situation) -> Choice:
    if _developing(situation):
        return keep("base_dev")
    return drop(
        "only offered in the development environment", "Set TOOLCRIB_ENVIRONMENT=development."
    )


def _developing(situation: Situation) -> bool:
    return situation.context.environment == "development"


def _canvas_toolkit(situation: Situation) -> Choice:
    if situation.context.page_type in {"html", "react"}:
        return keep("canvas_toolkit")
    return drop(
        f"the chat's page type is {situation.context.page_type!r}",
        "Use a chat whose page_type is html or react.",
    )


def _subchats(situation: Situation) -> Choice:
    child = situation.context.parent_chat_id is not None
    return Choice(codes=("subchats_child" if child else "subchats_parent",))


def _rag(situation: Situation) -> Choice:
    context = situation.context
    both = context.documents_enabled and context.collections_enabled
    return keep("rag", "rag_documents") if both else keep("rag")


def _scheduled_prompts(situation: Situation) -> Choice:
    if situation.context.scheduled_jobs_enabled:
        return keep("scheduled_prompts")
    return drop(
        "scheduled jobs are not enabled in the chat",
        "Use a chat with scheduled_jobs_enabled.",
    )


def _memory(situation: Situation) -> Choice:
    if situation.context.temporary:
        return drop("the chat is temporary", "Use a chat that is not temporary.")
    if not situation.context.global_memory:
        return drop("global memory is off in the chat", "Use a chat with global_memory.")
    return keep("memory")


def _web_search_google_serper(situation: Situation) -> Choice:
    status = situation.settings.get("SERPER_API_KEY")
    if status == "configured":
        return keep("web_search_google_serper")
    why = "cannot be decrypted" if status else "is not set"
    return drop(
        f"the setting 'SERPER_API_KEY' {why} for this user or group",
        "Set it with PUT /api/v1/settings/SERPER_API_KEY.",
    )


def _generic_api_requests(situation: Situation) -> Choice:
    return keep("generic_api_requests")


BUILT_IN: Mapping[str, Condition] = {
    "base": _base,
    "base_dev": _base_dev,
    "canvas_toolkit": _canvas_toolkit,
    "subchats": _subchats,
    "rag": _rag,
    "scheduled_prompts": _scheduled_prompts,
    "memory": _memory,
    "web_search_google_serper": _web_search_google_serper,
    "generic_api_requests": _generic_api_requests,
}
"""PrimeThink's conditions, by the code they decide for."""


def belongs_under(code: str, candidate: str) -> bool:
    """Whether a condition of `code` may bring `candidate`: itself or a part of itself."""
    return candidate == code or candidate.startswith(code + "_")
