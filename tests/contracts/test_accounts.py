"""The contract of GroupStore, UserStore and TokenStore."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime, timedelta, timezone

import pytest

from tests.contracts.people import People, add_agent, add_user
from toolcrib.errors import Conflict, InvalidRequest, NotFound
from toolcrib.identity.roles import Role
from toolcrib.storage import Storage

BEYOND = 2**80
"""An id that no column can hold."""


async def test_group_comes_back(storage: Storage) -> None:
    """A group is found as it was made, its time aware and in UTC."""
    group = await storage.groups.create(name="Sales")
    assert await storage.groups.find(group.id) == group
    assert group.created_at.tzinfo is UTC
    assert await storage.groups.find(group.id + 1) is None
    assert await storage.groups.find(BEYOND) is None
    assert await storage.groups.find(-BEYOND) is None


async def test_group_names_are_one_without_case(storage: Storage) -> None:
    """The second group of a name is refused, and the message says which."""
    await storage.groups.create(name="Straße")
    with pytest.raises(Conflict, match="'STRASSE'"):
        await storage.groups.create(name="STRASSE")


@pytest.mark.parametrize("name", ["a\0b", "half \ud800", "x" * 256])
async def test_names_that_one_database_refuses_are_refused_by_both(
    storage: Storage, name: str
) -> None:
    """NUL, half surrogates and overlong names are an InvalidRequest, and nothing is stored."""
    with pytest.raises(InvalidRequest):
        await storage.groups.create(name=name)
    assert await storage.groups.list() == []


async def test_groups_are_listed_by_id_in_pages(storage: Storage) -> None:
    """`after` goes on behind the last id; `ids` chooses."""
    made = [await storage.groups.create(name=f"g{n}") for n in range(5)]
    assert await storage.groups.list(limit=2) == made[:2]
    assert await storage.groups.list(after=made[1].id, limit=2) == made[2:4]
    assert await storage.groups.list(ids=frozenset({made[4].id, made[0].id})) == [made[0], made[4]]
    assert await storage.groups.list(ids=frozenset()) == []


async def test_user_comes_back(storage: Storage, people: People) -> None:
    """A user is found by id and by name, with groups and entitlements."""
    user = await storage.users.create(
        name="Carla",
        role=Role.ADMIN,
        group_ids=frozenset({people.first.id, people.second.id}),
        entitlements=frozenset({"chat", "idp"}),
        password_hash="hash",
    )
    assert user.group_ids == {people.first.id, people.second.id}
    assert user.has_password
    assert await storage.users.find(user.id) == user
    assert await storage.users.find_by_name("cARLA") == user
    assert await storage.users.password_hash(user.id) == "hash"
    assert await storage.users.find_by_name("nobody") is None
    assert await storage.users.find(BEYOND) is None
    assert await storage.users.count() == 4


async def test_user_needs_free_name_and_real_groups(storage: Storage, people: People) -> None:
    """A taken name is a Conflict, a missing group NotFound; neither leaves a user behind."""
    with pytest.raises(Conflict, match="'ANN'"):
        await add_user(storage, "ANN")
    with pytest.raises(NotFound, match="no group 999"):
        await add_user(storage, "Dora", people.first.id, 999)
    assert await storage.users.count() == 3


async def test_users_are_listed_by_group_or_id(storage: Storage, people: People) -> None:
    """Both filters add up; none means everybody."""
    ann, bob, eve = people.ann, people.bob, people.eve
    assert await storage.users.list() == [ann, bob, eve]
    assert await storage.users.list(group_ids=frozenset({people.first.id})) == [ann]
    assert await storage.users.list(
        group_ids=frozenset({people.second.id}), ids=frozenset({eve.id})
    ) == [bob, eve]
    assert await storage.users.list(group_ids=frozenset(), ids=frozenset()) == []
    assert await storage.users.list(after=ann.id, limit=1) == [bob]


async def test_user_is_updated(storage: Storage, people: People) -> None:
    """What is named changes, the rest stays, the version counts up."""
    changed = await storage.users.update(
        people.ann.id, role=Role.ADMIN, group_ids=frozenset({people.second.id})
    )
    assert changed == replace(
        people.ann, role=Role.ADMIN, group_ids=frozenset({people.second.id}), version=2
    )
    changed = await storage.users.update(people.ann.id, entitlements=frozenset({"chat"}))
    assert changed.entitlements == {"chat"}
    assert await storage.users.find(people.ann.id) == changed


async def test_stale_user_update_is_refused(storage: Storage, people: People) -> None:
    """A version that has passed is a Conflict that carries the present row."""
    present = await storage.users.update(people.ann.id, entitlements=frozenset({"idp"}))
    with pytest.raises(Conflict) as refused:
        await storage.users.update(people.ann.id, expected_version=1, group_ids=frozenset())
    assert refused.value.current == present
    assert await storage.users.find(people.ann.id) == present
    with pytest.raises(NotFound, match="no user 999"):
        await storage.users.update(999, expected_version=1)
    with pytest.raises(NotFound, match="no group 999"):
        await storage.users.update(people.ann.id, group_ids=frozenset({999}))
    assert await storage.users.find(people.ann.id) == present


async def test_password_is_set(storage: Storage, people: People) -> None:
    """The hash is kept apart from the row; a user that is not there is NotFound."""
    assert await storage.users.password_hash(people.ann.id) is None
    await storage.users.set_password(people.ann.id, "new")
    assert await storage.users.password_hash(people.ann.id) == "new"
    assert await storage.users.find(people.ann.id) == replace(people.ann, has_password=True)
    with pytest.raises(NotFound):
        await storage.users.set_password(999, "new")


async def test_token_is_found_by_digest(storage: Storage, people: People) -> None:
    """A token comes back by digest; a time given in another zone comes back in UTC."""
    expires = datetime(2030, 1, 1, 12, 0, 0, 123456, tzinfo=timezone(timedelta(hours=5)))
    token = await storage.tokens.create(
        token_id="tok_1", digest="d1", user_id=people.ann.id, name="laptop", expires_at=expires
    )
    assert await storage.tokens.find_by_digest("d1") == token
    assert token.expires_at == datetime(2030, 1, 1, 7, 0, 0, 123456, tzinfo=UTC)
    assert token.expires_at.tzinfo is UTC
    assert await storage.tokens.find_by_digest("d2") is None


async def test_token_needs_its_user_and_agent(storage: Storage, people: People) -> None:
    """What a token refers to must be there, and its id must be free."""
    for missing in ({"user_id": 999}, {"user_id": people.ann.id, "agent_id": 999}):
        with pytest.raises(NotFound, match="999"):
            await storage.tokens.create(token_id="tok_1", digest="d1", name="x", **missing)
    await storage.tokens.create(token_id="tok_1", digest="d1", user_id=people.ann.id, name="x")
    with pytest.raises(Conflict, match="'tok_1'"):
        await storage.tokens.create(token_id="tok_1", digest="d2", user_id=people.ann.id, name="x")


async def test_token_is_deleted_for_its_user_only(storage: Storage, people: People) -> None:
    """With a user named, another user's token stays."""
    token = await storage.tokens.create(
        token_id="tok_1", digest="d1", user_id=people.ann.id, name="x"
    )
    assert not await storage.tokens.delete("tok_1", user_id=people.bob.id)
    assert await storage.tokens.list(people.ann.id) == [token]
    assert await storage.tokens.list(people.bob.id) == []
    assert await storage.tokens.delete("tok_1", user_id=people.ann.id)
    assert not await storage.tokens.delete("tok_1")
    assert await storage.tokens.find_by_digest("d1") is None


async def test_agents_token_goes_with_the_agent(storage: Storage, people: People) -> None:
    """A token for one agent never becomes a token for all when the agent is deleted."""
    agent = await add_agent(storage, people)
    await storage.tokens.create(
        token_id="tok_1", digest="d1", user_id=people.ann.id, name="x", agent_id=agent.id
    )
    assert await storage.agents.delete(agent.id)
    assert await storage.tokens.find_by_digest("d1") is None
