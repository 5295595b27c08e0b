"""What happens to a definition under each policy."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from tests.catalog.pinned import pin
from toolcrib.catalog.judging import Policy, Rules
from toolcrib.catalog.pins import Pin, Sighting, fingerprint_of_definition

OLD = pin(1, "7", "search", "Search the wiki.", inputSchema={"type": "object"})
CODE = {"distribution": "acme-tools", "version": "1", "code": "x"}


def sighting(of: Pin = OLD, **changes: Any) -> Sighting:
    definition = {**of.definition, **changes}
    return Sighting(
        source=of.source,
        name=of.name,
        ref=of.ref,
        fingerprint=fingerprint_of_definition(definition),
        definition=definition,
    )


NEW_TEXT = sighting(description="Search all of the wiki.")
HIDDEN_TEXT = sighting(description="Search\u200b the wiki.")
NEW_SCHEMA = sighting(inputSchema={"type": "object", "properties": {"x": {}}})


@pytest.mark.parametrize(
    ("policy", "seen", "state"),
    [
        ("hold", sighting(), "accepted"),
        ("hold", NEW_TEXT, "held"),
        ("hold", NEW_SCHEMA, "held"),
        ("block", NEW_TEXT, "held"),
        ("accept_text", NEW_TEXT, "accepted"),
        ("accept_text", HIDDEN_TEXT, "held"),
        ("accept_text", NEW_SCHEMA, "held"),
    ],
)
def test_a_change_of_a_servers_tool(policy: Policy, seen: Sighting, state: str) -> None:
    assert Rules(policy=policy).judge([OLD], seen).state == state


def native(behind: dict[str, Any] | None) -> Pin:
    definition = {**OLD.definition, **({} if behind is None else {"source": behind})}
    return replace(
        OLD,
        source="native:acme",
        definition=definition,
        fingerprint=fingerprint_of_definition(definition),
    )


@pytest.mark.parametrize(
    ("policy", "behind", "changes", "state"),
    [
        ("hold", CODE, {"source": {**CODE, "version": "2", "code": "y"}}, "accepted"),
        ("hold", CODE, {"description": "Another."}, "held"),
        ("block", CODE, {"source": {**CODE, "version": "2"}}, "held"),
        ("hold", None, {"description": "Another."}, "accepted"),
        ("block", None, {"description": "Another."}, "held"),
        ("hold", {"distribution": "toolcrib"}, {"description": "Another."}, "accepted"),
        ("hold", {**CODE, "editable": True}, {"description": "Another."}, "accepted"),
    ],
)
def test_a_change_of_python_code(
    policy: Policy, behind: dict[str, Any] | None, changes: dict[str, Any], state: str
) -> None:
    """An upgrade that no model notices passes, also of the program itself; others are held."""
    known = native(behind)
    assert Rules(policy=policy).judge([known], sighting(known, **changes)).state == state


def test_first_sight() -> None:
    assert Rules().judge([], sighting()).how == "first sight"
    strict = Rules(trusts_first_sight=False)
    assert strict.judge([], sighting()).state == "held"
    assert strict.judge([], HIDDEN_TEXT).summary == "it holds characters that nobody sees"
    waiting = replace(OLD, state="held", how="new", decided_at=None)
    assert strict.judge([waiting], NEW_TEXT).how == "new"


def test_an_owners_change() -> None:
    """It passes in the owner's name, except where the lock alone decides."""
    released = replace(OLD, state="released", decided_by=9)
    decision = Rules().judge([released], NEW_SCHEMA)
    assert (decision.state, decision.how, decision.decided_by) == ("accepted", "owner", 9)
    assert Rules(policy="block").judge([released], NEW_SCHEMA).state == "held"
    assert Rules().judge([released, replace(OLD, id=2)], NEW_SCHEMA).state == "held"


def test_other_rules_judge_anew_what_waits() -> None:
    """What was held under `hold` may pass under `accept_text`."""
    held = replace(
        OLD, id=2, state="held", fingerprint=NEW_TEXT.fingerprint, definition=NEW_TEXT.definition
    )
    assert Rules(policy="accept_text").judge([OLD, held], NEW_TEXT).how == "policy"
    assert Rules(policy="hold").judge([OLD, held], NEW_TEXT).state == "held"
