"""The contract of CapabilityStore."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from tests.contracts.people import People, add_capability
from toolcrib.catalog.capabilities import CapabilityDraft, Reach
from toolcrib.errors import Conflict, InvalidRequest, NotFound
from toolcrib.storage import Storage

ALL = Reach(everything=True)


async def ids(storage: Storage, **chosen: Any) -> list[int]:
    return [row.id for row in await storage.capabilities.list(**{"reach": ALL, **chosen})]


async def test_capability_comes_back(storage: Storage, people: People) -> None:
    """Every field of the draft is in the row, options with whatever JSON can say."""
    options = {"a": [1, {"b": None}], "big": 2**70, "odd": "\0\ud800", "π": 1.5}
    draft = CapabilityDraft(
        name="Mail",
        code="mail,mail_read",
        type="api",
        options=options,
        description="Sends",
        is_default=True,
        ordering=7,
        access_type="group",
        group_id=people.first.id,
        owner_id=people.ann.id,
        help="how",
        help_url="https://example.org/help",
    )
    made = await storage.capabilities.create(draft)
    assert made.codes == ("mail", "mail_read")
    assert made.options == options
    for name in ("name", "type", "description", "is_default", "ordering", "access_type"):
        assert getattr(made, name) == getattr(draft, name)
    assert (made.group_id, made.owner_id) == (people.first.id, people.ann.id)
    assert (made.help, made.help_url, made.version, made.archived) == (
        draft.help,
        draft.help_url,
        1,
        False,
    )
    assert await storage.capabilities.find(made.id) == made
    assert await storage.capabilities.find(2**80) is None


async def test_no_options_are_none(storage: Storage) -> None:
    """None and an empty object stay apart."""
    nothing = await add_capability(storage, "a")
    empty = await add_capability(storage, "b", options={})
    assert [row.options for row in await storage.capabilities.find_many([nothing, empty])] == [
        None,
        {},
    ]


@pytest.mark.parametrize("value", [float("nan"), object()])
async def test_options_that_are_no_json_are_refused(storage: Storage, value: object) -> None:
    """NaN and Python's own objects are an InvalidRequest, and nothing is stored."""
    with pytest.raises(InvalidRequest, match="JSON"):
        await add_capability(storage, "a", options={"x": value})
    assert await ids(storage) == []


async def test_ordering_too_large_is_refused(storage: Storage) -> None:
    """A number past 64 bits is an InvalidRequest."""
    with pytest.raises(InvalidRequest, match="too large"):
        await add_capability(storage, "a", ordering=2**70)


async def test_code_is_unique_where_it_counts(storage: Storage, people: People) -> None:
    """(code, access type, group or owner) is unique; the same code elsewhere is another row."""
    places: list[dict[str, Any]] = [
        {"access_type": "system"},
        {"access_type": "user"},
        {"access_type": "group", "group_id": people.first.id},
        {"access_type": "group", "group_id": people.second.id},
        {"access_type": "private", "owner_id": people.ann.id},
        {"access_type": "private", "owner_id": people.bob.id},
    ]
    for place in places:
        await add_capability(storage, "mail", **place)
    for place in places:
        with pytest.raises(Conflict, match="'mail'"):
            await add_capability(storage, "mail", **place)
    # The maker's id on a group's row makes it no other place.
    with pytest.raises(Conflict, match=f"group {people.first.id}"):
        await add_capability(storage, "mail", owner_id=people.ann.id, **places[2])
    assert len(await ids(storage)) == len(places)


async def test_archived_rows_make_room(storage: Storage) -> None:
    """An archived row's code is free again, and the row cannot come back while it is taken."""
    first = await add_capability(storage, "mail")
    await storage.capabilities.update(first, {"archived": True})
    second = await add_capability(storage, "mail")
    with pytest.raises(Conflict, match="'mail'"):
        await storage.capabilities.update(first, {"archived": False})
    assert await ids(storage) == [second]
    assert await ids(storage, archived=True) == [first, second]


async def test_group_and_owner_must_be_there(storage: Storage, people: People) -> None:
    """A group's row without a group, or of one that is not there, is refused by name."""
    with pytest.raises(InvalidRequest) as refused:
        await add_capability(storage, "a", access_type="group")
    assert refused.value.where == "group_id"
    with pytest.raises(InvalidRequest) as refused:
        await add_capability(storage, "a", access_type="private")
    assert refused.value.where == "owner_id"
    with pytest.raises(NotFound, match="no group 999"):
        await add_capability(storage, "a", access_type="group", group_id=999)
    with pytest.raises(NotFound, match="no user 999"):
        await add_capability(storage, "a", access_type="private", owner_id=999)


async def test_reach_bounds_the_list(storage: Storage, people: People) -> None:
    """System and user rows for all, group rows for members, private rows for their owner."""
    system = await add_capability(storage, "system", access_type="system")
    user = await add_capability(storage, "user")
    first = await add_capability(
        storage, "one", access_type="group", group_id=people.first.id, owner_id=people.bob.id
    )
    second = await add_capability(
        storage, "two", access_type="group", group_id=people.second.id, owner_id=people.ann.id
    )
    anns = await add_capability(
        storage, "own", access_type="private", owner_id=people.ann.id, group_id=people.second.id
    )
    bobs = await add_capability(storage, "own", access_type="private", owner_id=people.bob.id)
    in_first = frozenset({people.first.id})
    for reach, expected in (
        (Reach(), [system, user]),
        (Reach(group_ids=in_first), [system, user, first]),
        (Reach(group_ids=in_first, owner_id=people.ann.id), [system, user, first, anns]),
        (Reach(every_group=True, owner_id=people.bob.id), [system, user, first, second, bobs]),
        (Reach(everything=True), [system, user, first, second, anns, bobs]),
    ):
        assert await ids(storage, reach=reach) == expected


async def test_code_filter_matches_whole_codes(storage: Storage) -> None:
    """A code is found anywhere in the list, never as a part of another one."""
    both = await add_capability(storage, "mail,mail_read")
    read = await add_capability(storage, "mail_read")
    await add_capability(storage, "email")
    assert await ids(storage, code="mail_read") == [both, read]
    assert await ids(storage, code="mail") == [both]
    assert await ids(storage, code="ail") == []
    assert await ids(storage, code="%") == []


async def test_code_filter_follows_updates(storage: Storage) -> None:
    """After an update the old codes find nothing and the new ones the row."""
    row = await add_capability(storage, "a,b")
    await storage.capabilities.update(row, {"code": "b,c"})
    assert [await ids(storage, code=code) for code in ("a", "b", "c")] == [[], [row], [row]]


async def test_list_has_pages(storage: Storage) -> None:
    """`after` goes on behind the last id, with filters too."""
    made = [await add_capability(storage, f"a,n{n}") for n in range(5)]
    assert await ids(storage, limit=2) == made[:2]
    assert await ids(storage, after=made[1], code="a", limit=2) == made[2:4]


async def test_find_many_keeps_the_order(storage: Storage) -> None:
    """Rows come in the order asked for, each once; what is not there is left out."""
    made = [await add_capability(storage, f"n{n}") for n in range(3)]
    wanted = [made[2], 999, made[0], made[2]]
    assert [row.id for row in await storage.capabilities.find_many(wanted)] == [made[2], made[0]]
    assert await storage.capabilities.find_many([]) == []
    many = list(range(1, 5000))
    assert [row.id for row in await storage.capabilities.find_many(many)] == made


async def test_defaults_are_what_a_new_agent_may_hold(storage: Storage, people: People) -> None:
    """Live default rows of all, of the group and of the owner, by ordering."""
    late = await add_capability(storage, "late", is_default=True, ordering=5)
    await add_capability(storage, "plain")
    group = await add_capability(
        storage, "g", is_default=True, access_type="group", group_id=people.first.id
    )
    own = await add_capability(
        storage, "p", is_default=True, access_type="private", owner_id=people.ann.id
    )
    gone = await add_capability(storage, "gone", is_default=True)
    await storage.capabilities.update(gone, {"archived": True})
    for group_id, owner_id, expected in (
        (people.first.id, None, [group, late]),
        (None, people.ann.id, [own, late]),
        (people.second.id, people.bob.id, [late]),
        (None, None, [late]),
    ):
        found = await storage.capabilities.defaults(group_id=group_id, owner_id=owner_id)
        assert [row.id for row in found] == expected


async def test_update_changes_what_is_named(storage: Storage) -> None:
    """The version counts up, the time of change moves, the rest stays."""
    row = await storage.capabilities.find(await add_capability(storage, "mail"))
    assert row is not None
    changed = await storage.capabilities.update(
        row.id, {"name": "Post", "options": {"a": 1}}, expected_version=1
    )
    assert row.updated_at is not None
    assert changed.updated_at is not None
    assert changed.updated_at > row.updated_at
    assert changed == replace(
        row, name="Post", options={"a": 1}, version=2, updated_at=changed.updated_at
    )
    assert await storage.capabilities.find(row.id) == changed
    cleared = await storage.capabilities.update(row.id, {"options": None})
    assert cleared.options is None


async def test_update_is_refused_with_the_reason(storage: Storage, people: People) -> None:
    """Stale version, missing row, unknown field, taken code, missing group: nothing changes."""
    row_id = await add_capability(storage, "mail")
    await add_capability(storage, "post")
    present = await storage.capabilities.update(row_id, {"ordering": 3})
    with pytest.raises(Conflict) as refused:
        await storage.capabilities.update(row_id, {"name": "x"}, expected_version=1)
    assert refused.value.current == present
    with pytest.raises(NotFound, match="no capability 999"):
        await storage.capabilities.update(999, {"name": "x"})
    with pytest.raises(InvalidRequest) as unknown:
        await storage.capabilities.update(row_id, {"version": 9})
    assert unknown.value.where == "version"
    with pytest.raises(Conflict, match="'post'"):
        await storage.capabilities.update(row_id, {"code": "post"})
    with pytest.raises(InvalidRequest) as missing:
        await storage.capabilities.update(row_id, {"access_type": "group"})
    assert missing.value.where == "group_id"
    with pytest.raises(NotFound, match="no group 999"):
        await storage.capabilities.update(row_id, {"access_type": "group", "group_id": 999})
    assert await storage.capabilities.find(row_id) == present
    assert await ids(storage, code="mail") == [row_id]
