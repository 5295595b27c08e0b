"""The first token: an empty installation can be entered, once, by whoever started it."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator

import pytest

from toolcrib.desk.furnishing import furnish
from toolcrib.desk.setup import GIVEN_NAME, first_token
from toolcrib.errors import InvalidSettings
from toolcrib.identity.roles import Role
from toolcrib.identity.tokens import NewToken, digest
from toolcrib.settings import Settings
from toolcrib.storage import Storage, open_storage


@pytest.fixture
async def storage(settings: Settings) -> AsyncGenerator[Storage]:
    opened = await open_storage(settings.database)
    yield opened
    await opened.close()


async def first(storage: Storage, given: str | None = None) -> NewToken | None:
    return await first_token(storage.users, storage.tokens, storage.signals, given=given)


async def owner_of(storage: Storage, text: str) -> int | None:
    token = await storage.tokens.find_by_digest(digest(text))
    return token.user_id if token else None


async def test_an_empty_installation_gets_an_admin_and_a_token(storage: Storage) -> None:
    """The token is user 1's, and the next start makes no other."""
    made = await first(storage)

    assert made is not None
    assert await owner_of(storage, made.text) == 1
    user = await storage.users.find(1)
    assert user is not None
    assert (user.name, user.role) == ("admin", Role.SUPER_ADMIN)
    assert await first(storage) is None


async def test_processes_that_start_at_once_make_one_token(
    storage: Storage, settings: Settings
) -> None:
    """One of them shows it; the others have nothing to show."""
    other = await open_storage(settings.database)
    made = await asyncio.gather(*(first(one) for one in (storage, other, storage, other)))
    await other.close()

    assert len([one for one in made if one is not None]) == 1
    assert await storage.users.count() == 1
    assert len(await storage.tokens.list(1)) == 1


async def test_a_given_token_opens_and_is_replaced(storage: Storage) -> None:
    """The environment's word counts on every start; the one before opens nothing any more."""
    assert await first(storage, "first-given-token") is None
    assert await first(storage, "first-given-token") is None
    assert await owner_of(storage, "first-given-token") == 1
    assert [row.name for row in await storage.tokens.list(1)] == [GIVEN_NAME]

    await first(storage, "second-given-token")

    assert await owner_of(storage, "first-given-token") is None
    assert await owner_of(storage, "second-given-token") == 1


async def test_a_given_token_that_is_another_users_is_refused(storage: Storage) -> None:
    """It would open the installation with somebody else's rights."""
    await first(storage)
    user = await storage.users.create(
        name="u", role=Role.USER, group_ids=frozenset(), entitlements=frozenset()
    )
    await storage.tokens.create(
        token_id="tok_u", digest=digest("a-users-token"), user_id=user.id, name="u"
    )
    with pytest.raises(InvalidSettings):
        await first(storage, "a-users-token")


async def test_a_start_that_died_halfway_is_made_good(storage: Storage) -> None:
    """An admin without any way in gets a token; one with users beside is left alone."""
    await storage.users.create(
        name="admin", role=Role.SUPER_ADMIN, group_ids=frozenset(), entitlements=frozenset()
    )
    made = await first(storage)
    assert made is not None

    await storage.tokens.delete(made.id)
    await storage.users.set_password(1, "hash")
    assert await first(storage) is None


async def test_a_new_installation_has_the_core_tools_by_default(storage: Storage) -> None:
    """Whoever starts first makes the row; afterwards it is the admins' to keep or archive."""
    parts = (storage.users, storage.capabilities, storage.signals)
    await asyncio.gather(furnish(*parts), furnish(*parts))
    (core,) = await storage.capabilities.defaults(group_id=None, owner_id=1)
    assert (core.code, core.access_type, core.is_default) == ("core", "system", True)

    await first(storage)
    await storage.capabilities.update(core.id, {"archived": True})
    await furnish(*parts)
    assert await storage.capabilities.defaults(group_id=None, owner_id=1) == []
