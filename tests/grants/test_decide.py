"""The table of authority, row by row: who may see, use and change what."""

from __future__ import annotations

from dataclasses import replace

import pytest

from toolcrib.grants.decide import (
    INSTALLATION,
    TOOL_CLASSES,
    Action,
    Holding,
    Kind,
    decide,
    of_call,
    personal,
)
from toolcrib.identity.caller import Caller
from toolcrib.identity.roles import Role

ROOT = Caller(user_id=1, role=Role.SUPER_ADMIN)
ADMIN = Caller(user_id=2, role=Role.ADMIN, group_ids=frozenset({10}))
MEMBER = Caller(user_id=3, group_ids=frozenset({10}))
OWNER = Caller(user_id=4, group_ids=frozenset({10}))
STRANGER = Caller(user_id=5, role=Role.ADMIN, group_ids=frozenset({20}))
CALLERS = {"root": ROOT, "admin": ADMIN, "member": MEMBER, "owner": OWNER, "stranger": STRANGER}

THINGS: dict[str, Holding] = {
    "system": Holding(kind="system_capability"),
    "user": Holding(kind="user_capability"),
    "group": Holding(kind="group_capability", group_id=10),
    "private": Holding(kind="private_capability", owner_id=4),
    "group agent": Holding(kind="group_agent", group_id=10, owner_id=4, agent_id=7),
    "own agent": Holding(kind="own_agent", owner_id=4, agent_id=8),
    "user setting": Holding(kind="user_setting", owner_id=4),
    "group setting": Holding(kind="group_setting", group_id=10),
    "chat": personal(4),
    "call": of_call(user_id=4, group_id=10),
    "call without group": of_call(user_id=4, group_id=None),
    "user row": Holding(kind="user", owner_id=4, group_ids=frozenset({10})),
    "group row": Holding(kind="group", group_id=10),
    "tool classes": TOOL_CLASSES,
    "plugins": INSTALLATION,
}

EVERYBODY = "root admin member owner stranger"
TABLE: list[tuple[str, str, str, str]] = [
    # thing, who sees, who uses, who changes
    ("system", EVERYBODY, EVERYBODY, "root"),
    ("user", EVERYBODY, EVERYBODY, "root"),
    ("group", "root admin member owner", "root admin member owner", "root admin"),
    ("private", "owner", "owner", "owner"),
    ("group agent", "root admin member owner", "root admin member owner", "root admin owner"),
    ("own agent", "root owner", "root owner", "root owner"),
    ("user setting", "root owner", "owner", "root owner"),
    ("group setting", "root admin member owner", "root admin member owner", "root admin"),
    ("chat", "owner", "owner", "owner"),
    ("call", "root admin owner", "root admin owner", "root"),
    ("call without group", "owner", "owner", "root"),
    ("user row", "root admin owner", "owner", "root"),
    ("group row", "root admin member owner", "root admin member owner", "root"),
    ("tool classes", EVERYBODY, EVERYBODY, "root"),
    ("plugins", "root admin stranger", "root", "root"),
]
CELLS = [
    (thing, action, who)
    for thing, *columns in TABLE
    for action, who in zip(("see", "use", "change"), columns, strict=True)
]


@pytest.mark.parametrize(("thing", "action", "who"), CELLS)
def test_the_table(thing: str, action: Action, who: str) -> None:
    """Exactly the callers named in the cell may do it."""
    allowed = {name for name, caller in CALLERS.items() if decide(caller, action, THINGS[thing])}

    assert allowed == set(who.split())


def test_every_kind_has_a_row_here() -> None:
    """A new kind of thing cannot be forgotten."""
    from typing import get_args

    assert {thing.kind for thing in THINGS.values()} == set(get_args(Kind))


def test_a_token_bound_to_an_agent_reaches_that_agent_and_changes_nothing() -> None:
    """Whatever its user's role, the token is the agent's."""
    bound = replace(ROOT, agent_id=7)

    assert decide(bound, "use", THINGS["group agent"])
    assert not decide(bound, "see", THINGS["own agent"])
    assert [t for t, h in THINGS.items() if decide(bound, "change", h)] == []


def test_a_bound_token_sees_what_its_agent_needs() -> None:
    """The agent with its chats and calls, the capabilities it holds, and its own user."""
    bound = replace(OWNER, agent_id=7)
    things = {
        **THINGS,
        "held": Holding(kind="group_capability", group_id=10, agent_id=7),
        "held by another": Holding(kind="group_capability", group_id=10, agent_id=8),
        "held, of another group": Holding(kind="group_capability", group_id=20, agent_id=7),
        "its chat": personal(4, agent_id=7),
        "another agent's chat": personal(4, agent_id=8),
        "its call": of_call(user_id=4, group_id=10, agent_id=7),
        "another agent's call": of_call(user_id=4, group_id=10, agent_id=8),
    }

    seen = {name for name, thing in things.items() if decide(bound, "see", thing)}

    assert seen == {"held", "group agent", "its chat", "its call", "user row"}


def test_a_creator_who_left_the_group_loses_its_agent() -> None:
    """The agent is the group's; having made it is not enough."""
    left = replace(OWNER, group_ids=frozenset({20}))

    assert [a for a in ("see", "use", "change") if decide(left, a, THINGS["group agent"])] == []  # type: ignore[arg-type]


def test_seeing_is_never_narrower_than_changing() -> None:
    """Who may change a thing can see it, except calls, which nobody but the operator prunes."""
    for name, thing in THINGS.items():
        if name.startswith("call"):
            continue
        for caller in CALLERS.values():
            assert decide(caller, "see", thing).allowed >= decide(caller, "change", thing).allowed
