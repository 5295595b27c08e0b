"""Capabilities: who may make which, and what a bad one is told."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from tests.support.crib import Person
from tests.support.tenants import Tenants
from toolcrib.catalog.capabilities import CapabilityDraft
from toolcrib.desk.drafts import checked_draft
from toolcrib.desk.operator import operator
from toolcrib.errors import Conflict, InvalidOptions, NotFound, NotGranted, ToolcribError

DRAFT = CapabilityDraft(name="Greetings", code="greet")


async def test_a_registered_tool_fills_name_and_description(tenants: Tenants) -> None:
    """What the plugin said is the default, what the body says counts."""
    make = tenants.crib.desk.capabilities.create_from_registered
    row = await make(tenants.admin_a.caller, code="greet", group_id=tenants.a)
    other = await make(
        tenants.root.caller, code="greet", group_id=tenants.b, name="Hi", description="", ordering=3
    )

    assert (row.name, row.description, row.type, row.access_type, row.group_id) == (
        "Greetings",
        "Says hello.",
        "internal",
        "group",
        tenants.a,
    )
    assert (other.name, other.description, other.ordering) == ("Hi", "", 3)


async def test_a_code_is_activated_once_for_a_group(tenants: Tenants) -> None:
    """The second time answers with the row that is there, even when it has more codes."""
    desk = tenants.crib.desk.capabilities
    row = await desk.create(
        tenants.admin_a.caller,
        replace(DRAFT, code="notes, greet", access_type="group", group_id=tenants.a),
    )
    with pytest.raises(Conflict) as refused:
        await desk.create_from_registered(tenants.admin_a.caller, code="greet", group_id=tenants.a)
    assert refused.value.current == row

    with pytest.raises(NotFound) as unknown:
        await desk.create_from_registered(
            tenants.admin_a.caller, code="nobody_has_it", group_id=tenants.a
        )
    assert unknown.value.where == "code"


async def test_registered_codes_show_what_the_group_activated(tenants: Tenants) -> None:
    """A row that serves everybody is not the group's own; an archived one does not count."""
    desk = tenants.crib.desk.capabilities
    await desk.create(tenants.root.caller, replace(DRAFT, access_type="system"))
    notes = await desk.create_from_registered(
        tenants.admin_a.caller, code="notes", group_id=tenants.a
    )

    def shown(rows: Any) -> list[tuple[str, bool, int | None]]:
        return [(row.code, row.activated, row.capability_id) for row in rows]

    rows = await desk.registered(tenants.admin_a.caller, group_id=tenants.a)
    assert shown(rows) == [("greet", False, None), ("notes", True, notes.id)]
    assert list(rows[1].tools) == ["add_note", "lose_note"]
    await desk.archive(tenants.admin_a.caller, notes.id)
    rows = await desk.registered(tenants.admin_a.caller, group_id=tenants.a)
    assert shown(rows) == [("greet", False, None), ("notes", False, None)]


async def test_who_may_look_at_and_activate_a_groups_codes(tenants: Tenants) -> None:
    """Its admin and super-admins; a member is told so, a stranger finds no such group."""
    desk = tenants.crib.desk.capabilities
    for person, error in (
        (tenants.user_a, NotGranted),
        (tenants.admin_b, NotFound),
        (tenants.user_b, NotFound),
    ):
        with pytest.raises(error):
            await desk.registered(person.caller, group_id=tenants.a)
        with pytest.raises(error):
            await desk.create_from_registered(person.caller, code="greet", group_id=tenants.a)
    with pytest.raises(NotFound):
        await desk.registered(tenants.root.caller, group_id=999)


MAKERS: list[tuple[str, dict[str, type[ToolcribError] | None]]] = [
    ("system", {"root": None, "admin_a": NotGranted, "user_a": NotGranted}),
    ("user", {"root": None, "admin_a": NotGranted, "user_a": NotGranted}),
    (
        "group",
        {"root": None, "admin_a": None, "user_a": NotGranted, "admin_b": NotFound},
    ),
    ("private", {"root": None, "admin_a": None, "user_a": NotGranted}),
]


@pytest.mark.parametrize(
    ("access_type", "who", "error"),
    [(kind, who, error) for kind, row in MAKERS for who, error in row.items()],
)
async def test_who_makes_what(
    tenants: Tenants, access_type: Any, who: str, error: type[ToolcribError] | None
) -> None:
    """The table of authority, for rows that are not there yet."""
    person: Person = getattr(tenants, who)
    group_id = tenants.a if access_type == "group" else None
    draft = replace(DRAFT, access_type=access_type, group_id=group_id)

    if error is None:
        row = await tenants.crib.desk.capabilities.create(person.caller, draft)
        assert row.owner_id == (person.id if access_type == "private" else None)
        return
    with pytest.raises(error):
        await tenants.crib.desk.capabilities.create(person.caller, draft)


async def test_a_users_private_row_brings_nothing_that_was_not_granted(tenants: Tenants) -> None:
    """Else every user could give themselves every installed tool."""
    desk = tenants.crib.desk.capabilities
    mine = replace(DRAFT, access_type="private")
    row = await desk.create_from_registered(
        tenants.admin_a.caller, code="greet", group_id=tenants.a
    )

    private = await desk.create(tenants.user_a.caller, mine)
    with pytest.raises(NotGranted) as refused:
        await desk.update(tenants.user_a.caller, private.id, {"code": "greet,notes"})
    assert refused.value.where == "code"

    await desk.archive(tenants.user_a.caller, private.id)
    await desk.archive(tenants.admin_a.caller, row.id)
    with pytest.raises(NotGranted):
        await desk.restore(tenants.user_a.caller, private.id)


async def test_private_rows_are_their_owners_alone(tenants: Tenants) -> None:
    """Not even a super-admin sees them, and nobody else changes them."""
    desk = tenants.crib.desk.capabilities
    row = await desk.create(tenants.admin_a.caller, replace(DRAFT, access_type="private"))
    for person in (tenants.root, tenants.user_a, tenants.admin_b):
        assert row.id not in [one.id for one in await desk.list(person.caller)]
        with pytest.raises(NotFound):
            await desk.get(person.caller, row.id)
        with pytest.raises(NotFound):
            await desk.update(person.caller, row.id, {"name": "mine"})


BAD: list[tuple[dict[str, Any], str]] = [
    ({"code": "Crm"}, "code"),
    ({"code": " , "}, "code"),
    ({"code": "x" * 300}, "code"),
    ({"name": "  "}, "name"),
    ({"type": "sandbox"}, "type"),
    ({"type": "api"}, "options"),
    ({"type": "api", "options": {}}, "options.url"),
    ({"options": {"a": 1}}, "options"),
    ({"access_type": "everyone"}, "access_type"),
    ({"access_type": "group"}, "group_id"),
    ({"access_type": "system", "group_id": 1}, "group_id"),
    ({"access_type": "user", "owner_id": 1}, "owner_id"),
    ({"access_type": "private", "owner_id": 2}, "owner_id"),
    ({"ordering": 2**40}, "ordering"),
]


@pytest.mark.parametrize(("changes", "where"), BAD)
async def test_a_bad_draft_is_refused_with_its_place(
    tenants: Tenants, changes: dict[str, Any], where: str
) -> None:
    """Nothing of it is stored."""
    desk = tenants.crib.desk.capabilities
    with pytest.raises(InvalidOptions) as refused:
        await desk.create(tenants.root.caller, replace(DRAFT, **changes))
    assert refused.value.where == where
    assert list(await desk.list(tenants.root.caller)) == []


def test_the_refusal_of_a_type_lists_what_there_is() -> None:
    """An author learns which types this installation can serve."""
    draft = replace(DRAFT, type="mcp", options={})
    with pytest.raises(InvalidOptions) as refused:
        checked_draft(draft, operator(), kinds={"internal": None})
    assert (refused.value.where, refused.value.hint) == ("type", "There is: internal.")


async def test_changes_of_access_need_the_right_to_both_ends(tenants: Tenants) -> None:
    """A group's admin does not make the group's row everybody's, and a super-admin may."""
    desk = tenants.crib.desk.capabilities
    row = await desk.create_from_registered(
        tenants.admin_a.caller, code="greet", group_id=tenants.a
    )
    with pytest.raises(NotGranted):
        await desk.update(tenants.admin_a.caller, row.id, {"access_type": "system"})
    with pytest.raises(NotFound):
        await desk.update(tenants.admin_a.caller, row.id, {"group_id": tenants.b})
    with pytest.raises(InvalidOptions) as refused:
        await desk.update(tenants.admin_a.caller, row.id, {"owner_id": 2})
    assert refused.value.where == "owner_id"

    changed = await desk.update(tenants.root.caller, row.id, {"access_type": "system"})
    assert (changed.access_type, changed.group_id, changed.version) == ("system", None, 2)


async def test_archived_rows_leave_the_lists_and_come_back(tenants: Tenants) -> None:
    """An agent that holds one shows why its tools are gone."""
    desk = tenants.crib.desk
    agent = await tenants.agent(tenants.user_a, tenants.a, "greet")
    [row] = await desk.capabilities.list(tenants.user_a.caller)

    await desk.capabilities.archive(tenants.admin_a.caller, row.id)
    await desk.capabilities.archive(tenants.admin_a.caller, row.id)

    assert list(await desk.capabilities.list(tenants.user_a.caller)) == []
    toolset = await desk.tools.list(tenants.user_a.caller, agent.id)
    assert [skip.reason for skip in toolset.skipped] == ["the capability is archived"]
    archived = await desk.capabilities.list(tenants.user_a.caller, archived=True)
    assert [one.id for one in archived] == [row.id]
    await desk.capabilities.restore(tenants.admin_a.caller, row.id)
    assert list((await desk.tools.list(tenants.user_a.caller, agent.id)).tools) == ["hello"]


async def test_a_row_comes_back_only_where_its_place_is_free(tenants: Tenants) -> None:
    """Meanwhile another row may have taken the code."""
    desk = tenants.crib.desk.capabilities
    caller = tenants.admin_a.caller
    old = await desk.create_from_registered(caller, code="greet", group_id=tenants.a)
    await desk.archive(caller, old.id)
    await desk.create_from_registered(caller, code="greet", group_id=tenants.a)

    with pytest.raises(Conflict):
        await desk.restore(caller, old.id)


async def test_lists_find_a_code_among_several(tenants: Tenants) -> None:
    """A comma list names each of its codes."""
    desk = tenants.crib.desk.capabilities
    row = await desk.create(tenants.root.caller, replace(DRAFT, code="greet , notes,greet"))

    assert row.code == "greet,notes"
    assert [one.id for one in await desk.list(tenants.user_a.caller, code="notes")] == [row.id]
    assert list(await desk.list(tenants.user_a.caller, code="note")) == []
