"""Groups and users: made by super-admins, seen by those they concern."""

from __future__ import annotations

import asyncio

import pytest

from tests.support.tenants import Tenants
from toolcrib.errors import Conflict, InvalidRequest, NotFound, NotGranted
from toolcrib.identity.roles import Role
from toolcrib.identity.tokens import password_matches


async def test_only_super_admins_make_groups(tenants: Tenants) -> None:
    """An admin administers groups and does not make them."""
    groups = tenants.crib.desk.groups
    for person in (tenants.admin_a, tenants.user_a):
        with pytest.raises(NotGranted):
            await groups.create(person.caller, name="Mine")
    with pytest.raises(Conflict):
        await groups.create(tenants.root.caller, name="group a")
    with pytest.raises(InvalidRequest):
        await groups.create(tenants.root.caller, name=" \t ")


async def test_groups_are_seen_by_their_members(tenants: Tenants) -> None:
    """Lists and single looks agree, and a super-admin sees every group."""
    groups = tenants.crib.desk.groups

    assert [row.id for row in await groups.list(tenants.user_a.caller)] == [tenants.a]
    assert [row.id for row in await groups.list(tenants.root.caller)] == [tenants.a, tenants.b]
    with pytest.raises(NotFound):
        await groups.get(tenants.admin_a.caller, tenants.b)


async def test_users_are_seen_by_themselves_and_by_their_admins(tenants: Tenants) -> None:
    """An admin sees the members of their groups, and of their groups only those they share."""
    users = tenants.crib.desk.users
    both = await tenants.crib.person("both", "user", tenants.a, tenants.b)

    seen = await users.list(tenants.admin_a.caller)

    assert [row.id for row in seen] == [tenants.admin_a.id, tenants.user_a.id, both.id]
    assert seen[-1].group_ids == {tenants.a}
    assert [row.id for row in await users.list(tenants.user_a.caller)] == [tenants.user_a.id]
    assert (await users.get(both.caller, both.id)).group_ids == {tenants.a, tenants.b}
    with pytest.raises(NotFound):
        await users.get(tenants.admin_a.caller, tenants.user_b.id)


async def test_only_super_admins_change_users(tenants: Tenants) -> None:
    """Whoever sees a user may not for that change it; who does not see it learns nothing."""
    users = tenants.crib.desk.users

    with pytest.raises(NotGranted):
        await users.update(tenants.admin_a.caller, tenants.user_a.id, role=Role.ADMIN)
    with pytest.raises(NotGranted):
        await users.update(tenants.user_a.caller, tenants.user_a.id, role=Role.ADMIN)
    with pytest.raises(NotFound):
        await users.update(tenants.admin_b.caller, tenants.user_a.id, role=Role.ADMIN)
    changed = await users.update(
        tenants.root.caller, tenants.user_a.id, role=Role.ADMIN, entitlements=["chat"]
    )
    assert (changed.role, changed.entitlements) == (Role.ADMIN, {"chat"})


async def test_the_last_super_admin_stays(tenants: Tenants) -> None:
    """Nobody can lock the installation up."""
    users = tenants.crib.desk.users
    with pytest.raises(Conflict) as refused:
        await users.update(tenants.root.caller, 1, role=Role.USER)
    assert refused.value.where == "role"

    second = await tenants.crib.person("second", "super_admin")
    await users.update(second.caller, 1, role=Role.USER)
    assert (await users.get(second.caller, 1)).role is Role.USER


async def test_two_super_admins_cannot_demote_each_other(tenants: Tenants) -> None:
    """Of two demotions at the same moment at least one is refused."""
    users = tenants.crib.desk.users
    second = await tenants.crib.person("second", "super_admin")

    await asyncio.gather(
        users.update(tenants.root.caller, second.id, role=Role.USER),
        users.update(second.caller, 1, role=Role.USER),
        return_exceptions=True,
    )

    rows = await tenants.crib.platform.storage.users.list()
    assert [row.role for row in rows if row.role is Role.SUPER_ADMIN] != []


async def test_passwords_are_hashed_and_set_by_their_owner(tenants: Tenants) -> None:
    """A user sets their own password, a super-admin anybody's, an admin nobody's."""
    users, store = tenants.crib.desk.users, tenants.crib.platform.storage.users

    await users.set_password(tenants.user_a.caller, tenants.user_a.id, "correct horse")
    await users.set_password(tenants.root.caller, tenants.user_b.id, "battery staple")

    hashed = await store.password_hash(tenants.user_a.id)
    assert password_matches("correct horse", hashed)
    assert not password_matches("battery staple", hashed)
    with pytest.raises(NotGranted):
        await users.set_password(tenants.admin_a.caller, tenants.user_a.id, "correct horse")
    with pytest.raises(InvalidRequest) as refused:
        await users.set_password(tenants.root.caller, tenants.user_a.id, "s3cret!")
    assert "s3cret!" not in str(refused.value)


async def test_a_change_names_the_version_it_is_for(tenants: Tenants) -> None:
    """Of two changes made from one reading, the second is a conflict with the present row."""
    users = tenants.crib.desk.users
    before = await users.get(tenants.root.caller, tenants.user_a.id)

    await users.update(
        tenants.root.caller, before.id, entitlements=["chat"], expected_version=before.version
    )
    with pytest.raises(Conflict) as refused:
        await users.update(
            tenants.root.caller, before.id, entitlements=[], expected_version=before.version
        )

    assert refused.value.current.entitlements == {"chat"}
