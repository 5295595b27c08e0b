"""The eight runtime conditions, each in both directions, and the limits of a plugin's own."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import pytest

from toolcrib.catalog.capabilities import Capability
from toolcrib.identity.context import Context
from toolcrib.resolution.conditions import BUILT_IN, Choice, Condition, Situation, keep
from toolcrib.resolution.offering import InternalProvider
from toolcrib.tools.source import Bundle


def situation(*, settings: Mapping[str, str] | None = None, **context: Any) -> Situation:
    return Situation(
        context=Context(**context), in_chat=True, user_id=1, group_id=1, settings=settings or {}
    )


@pytest.mark.parametrize(
    ("code", "given", "codes"),
    [
        ("base", {}, ("base",)),
        ("base", {"environment": "development"}, ("base", "base_dev")),
        ("base_dev", {}, ()),
        ("base_dev", {"environment": "development"}, ("base_dev",)),
        ("canvas_toolkit", {}, ()),
        ("canvas_toolkit", {"page_type": "html"}, ("canvas_toolkit",)),
        ("canvas_toolkit", {"page_type": "react"}, ("canvas_toolkit",)),
        ("subchats", {}, ("subchats_parent",)),
        ("subchats", {"parent_chat_id": 3}, ("subchats_child",)),
        ("rag", {}, ("rag",)),
        ("rag", {"documents_enabled": True}, ("rag",)),
        ("rag", {"collections_enabled": True}, ("rag",)),
        ("rag", {"documents_enabled": True, "collections_enabled": True}, ("rag", "rag_documents")),
        ("scheduled_prompts", {}, ()),
        ("scheduled_prompts", {"scheduled_jobs_enabled": True}, ("scheduled_prompts",)),
        ("memory", {}, ("memory",)),
        ("memory", {"temporary": True}, ()),
        ("memory", {"global_memory": False}, ()),
        ("web_search_google_serper", {}, ()),
        ("web_search_google_serper", {"settings": {"SERPER_API_KEY": "undecryptable"}}, ()),
        (
            "web_search_google_serper",
            {"settings": {"SERPER_API_KEY": "configured"}},
            ("web_search_google_serper",),
        ),
        ("generic_api_requests", {}, ("generic_api_requests",)),
    ],
)
def test_each_condition(code: str, given: dict[str, Any], codes: tuple[str, ...]) -> None:
    """The codes that a granted code stands for in this chat; a drop says why and what helps."""
    choice = BUILT_IN[code](situation(**given))

    assert choice.codes == codes
    assert bool(choice.reason and choice.fix) == (codes == ())


@dataclass
class OneShelf:
    """A shelf that has every code, with conditions of a plugin's own."""

    own: Mapping[str, Condition] = field(default_factory=dict[str, Condition])

    def bundle(self, code: str) -> Bundle | None:
        return Bundle(code=code, kind="native")

    def codes(self) -> Sequence[str]:
        return ()

    def conditions(self) -> Mapping[str, Condition]:
        return self.own


def capability(code: str) -> Capability:
    return Capability(id=1, name=code, code=code)


async def found(own: Mapping[str, Condition], code: str) -> tuple[list[str], list[str]]:
    bundles, absences = await InternalProvider(OneShelf(own)).find(capability(code), situation())
    return [bundle.code for bundle in bundles], [absence.reason for absence in absences]


async def test_a_plugin_adds_a_condition() -> None:
    """A plugin's predicate stands in the same table."""
    never: Condition = lambda _: Choice(codes=(), reason="closed on Mondays", fix="Wait.")  # noqa: E731

    assert await found({"shop": never}, "shop") == ([], ["closed on Mondays"])


async def test_a_condition_chooses_parts_of_its_own_code_and_grants_nothing_else() -> None:
    """What a condition adds must belong to its code."""
    greedy: Condition = lambda _: keep("shop", "shop_admin", "payroll")  # noqa: E731

    assert await found({"shop": greedy}, "shop") == (
        ["shop", "shop_admin"],
        ["the condition of 'shop' may not bring it"],
    )


async def test_a_condition_that_raises_drops_its_own_code_only() -> None:
    """One broken predicate does not break the agent."""

    def broken(_: Situation) -> Choice:
        raise ZeroDivisionError

    assert await found({"shop": broken}, "shop,tools") == (
        ["tools"],
        ["its condition failed: ZeroDivisionError"],
    )
