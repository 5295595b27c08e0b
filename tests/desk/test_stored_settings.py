"""Settings: names are seen by whom they concern, values by nobody."""

from __future__ import annotations

import pytest

from tests.support.tenants import Tenants
from toolcrib.errors import InvalidRequest, NotFound, NotGranted


async def test_without_an_owner_a_setting_is_ones_own(tenants: Tenants) -> None:
    """It resolves for its user and for nobody else."""
    desk, values = tenants.crib.desk, tenants.crib.platform.values
    await desk.settings.put(tenants.user_a.caller, "CRM_TOKEN", "a-long-value")

    own = await values.find("CRM_TOKEN", user_id=tenants.user_a.id, group_id=None)
    others = await values.find("CRM_TOKEN", user_id=tenants.user_b.id, group_id=tenants.a)
    assert (own, others) == ("a-long-value", None)


async def test_the_groups_settings_are_its_admins_to_change(tenants: Tenants) -> None:
    """Members see the name; strangers do not learn that the group exists."""
    settings = tenants.crib.desk.settings
    await settings.put(tenants.admin_a.caller, "URL", "https://a.example", group_id=tenants.a)

    with pytest.raises(NotGranted):
        await settings.put(tenants.user_a.caller, "URL", "x", group_id=tenants.a)
    with pytest.raises(NotGranted):
        await settings.delete(tenants.user_a.caller, "URL", group_id=tenants.a)
    with pytest.raises(NotFound):
        await settings.put(tenants.admin_b.caller, "URL", "x", group_id=tenants.a)
    with pytest.raises(NotFound):
        await settings.put(tenants.user_b.caller, "URL", "x", user_id=tenants.user_a.id)
    assert [row.name for row in await settings.list(tenants.user_a.caller)] == ["URL"]
    assert list(await settings.list(tenants.user_b.caller)) == []


async def test_one_owner_can_be_asked_for(tenants: Tenants) -> None:
    """A super-admin sees the names of anybody, a stranger none."""
    settings = tenants.crib.desk.settings
    await settings.put(tenants.user_a.caller, "MINE", "value-one")
    await settings.put(tenants.admin_a.caller, "OURS", "value-two", group_id=tenants.a)

    seen = await settings.list(tenants.root.caller, user_id=tenants.user_a.id)
    assert [row.name for row in seen] == ["MINE"]
    assert [row.name for row in await settings.list(tenants.root.caller)] == ["OURS"]
    with pytest.raises(NotFound):
        await settings.list(tenants.admin_a.caller, user_id=tenants.user_a.id)
    with pytest.raises(InvalidRequest):
        await settings.list(tenants.root.caller, user_id=1, group_id=tenants.a)


async def test_pages_cut_between_owners_of_one_name(tenants: Tenants) -> None:
    """One name of several owners is neither lost nor shown twice at the end of a page."""
    settings = tenants.crib.desk.settings
    caller = tenants.root.caller
    for group in (tenants.a, tenants.b):
        await settings.put(caller, "SAME", "value-of-it", group_id=group)
    await settings.put(caller, "SAME", "value-of-it")

    seen, after = [], ""
    while rows := await settings.list(caller, after=after, limit=1):
        seen.append((rows[0].owner.user_id, rows[0].owner.group_id))
        after = rows[0].place

    assert seen == [(1, None), (None, tenants.a), (None, tenants.b)]


async def test_values_too_short_to_be_masked_are_told(tenants: Tenants) -> None:
    """Who stores one knows that results are not searched for it."""
    put = tenants.crib.desk.settings.put
    caller = tenants.user_a.caller

    assert "fewer than 6" in (await put(caller, "PIN", "1234"))[0]
    assert "counts as missing" in (await put(caller, "PIN", "   "))[0]
    assert await put(caller, "PIN", "123456") == ()


@pytest.mark.parametrize("host", ["http://x", "a b", "", "x/y", "*.", "a:port", "*"])
async def test_hosts_are_hosts(tenants: Tenants, host: str) -> None:
    """What could never match is refused with its place."""
    with pytest.raises(InvalidRequest) as refused:
        await tenants.crib.desk.settings.put(
            tenants.user_a.caller, "T", "value-of-it", hosts=["api.example.com:8443", host]
        )
    assert refused.value.where == "hosts.1"


async def test_rotation_keeps_values_and_is_the_operators(tenants: Tenants) -> None:
    """After it, every value is sealed with a key that was not there before."""
    desk, platform = tenants.crib.desk, tenants.crib.platform
    await desk.settings.put(tenants.user_a.caller, "T", "value-of-it")
    assert platform.key_file is not None
    before = platform.key_file.keys()

    with pytest.raises(NotGranted):
        await desk.settings.rotate(tenants.admin_a.caller)
    assert await desk.settings.rotate(tenants.root.caller) == 1

    assert list(platform.key_file.keys())[1:] == list(before)
    found = await platform.values.find("T", user_id=tenants.user_a.id, group_id=None)
    assert found == "value-of-it"


async def test_deleting_what_is_not_there_says_so(tenants: Tenants) -> None:
    """A wrong name is not a success."""
    with pytest.raises(NotFound):
        await tenants.crib.desk.settings.delete(tenants.user_a.caller, "NOPE")


@pytest.mark.parametrize("name", ["KEY\n", "KEY ", "\nKEY", ""])
async def test_a_name_is_one_that_a_placeholder_can_spell(tenants: Tenants, name: str) -> None:
    """A line break at the end is no part of a name, of a setting's or a secret's."""
    desk = tenants.crib.desk
    with pytest.raises(InvalidRequest, match="cannot be the name"):
        await desk.settings.put(tenants.user_a.caller, name, "a-long-value")
    with pytest.raises(InvalidRequest, match="cannot be the name"):
        await desk.secrets.put(tenants.root.caller, name, "a-long-value")
