"""The contract of SettingStore."""

from __future__ import annotations

from dataclasses import replace

import pytest
from cryptography.fernet import Fernet

from tests.contracts.people import People
from toolcrib.errors import NotFound
from toolcrib.secrets.binding import hosts_of
from toolcrib.secrets.sealing import Sealer
from toolcrib.secrets.settings import SealedSetting, SettingOwner, SettingValues
from toolcrib.storage import Storage


async def put(storage: Storage, name: str, owner: SettingOwner, sealed: bytes = b"x") -> None:
    await storage.settings.put(name=name, owner=owner, sealed=sealed, hosts=())


def owners(people: People) -> tuple[SettingOwner, SettingOwner]:
    """Ann, and her group."""
    return SettingOwner(user_id=people.ann.id), SettingOwner(group_id=people.first.id)


async def test_setting_comes_back(storage: Storage, people: People) -> None:
    """The ciphertext comes back byte for byte, with its hosts."""
    ann, group = owners(people)
    sealed = bytes(range(256))
    await storage.settings.put(name="KEY", owner=ann, sealed=sealed, hosts=["a.example", "b:443"])
    found = await storage.settings.find("KEY", ann)
    assert found is not None
    assert (found.name, found.owner, found.sealed) == ("KEY", ann, sealed)
    assert found.hosts == ("a.example", "b:443")
    assert await storage.settings.find("KEY", group) is None
    assert await storage.settings.find("key", ann) is None


async def test_put_replaces(storage: Storage, people: People) -> None:
    """A second put of the same name and owner replaces the first, and only that one."""
    ann, group = owners(people)
    await put(storage, "KEY", ann, b"old")
    await put(storage, "KEY", group, b"group")
    await storage.settings.put(name="KEY", owner=ann, sealed=b"new", hosts=["h"])
    found = await storage.settings.list([ann, group])
    assert [(row.sealed, row.hosts) for row in found] == [(b"new", ("h",)), (b"group", ())]


async def test_owner_must_be_there(storage: Storage) -> None:
    """A setting of nobody is refused by number."""
    with pytest.raises(NotFound, match="no user 999"):
        await put(storage, "KEY", SettingOwner(user_id=999))
    with pytest.raises(NotFound, match="no group 999"):
        await put(storage, "KEY", SettingOwner(group_id=999))


async def test_list_is_ordered_and_bounded(storage: Storage, people: People) -> None:
    """By name as its characters are numbered, the user's before the group's; others' stay out."""
    ann, group = owners(people)
    bob = SettingOwner(user_id=people.bob.id)
    for name, owner in (
        ("b", ann),
        ("B", group),
        ("_", ann),
        ("B", ann),
        ("a", group),
        ("B", bob),
    ):
        await put(storage, name, owner)
    found = await storage.settings.list([group, ann])
    assert [(row.name, row.owner) for row in found] == [
        ("B", ann),
        ("B", group),
        ("_", ann),
        ("a", group),
        ("b", ann),
    ]
    assert await storage.settings.names([ann, group]) == {"B", "_", "a", "b"}
    assert await storage.settings.names([bob]) == {"B"}
    assert await storage.settings.list([]) == []
    assert await storage.settings.names([]) == frozenset()


async def test_a_limited_value_keeps_its_limit(storage: Storage, people: People) -> None:
    """Whoever gets the value knows where it may go; the owner whose value it is decides."""
    ann, group = owners(people)
    keys = [Fernet.generate_key().decode()]
    values = SettingValues(storage.settings, Sealer(lambda: keys))
    await values.put("TOKEN", "group-token", group, hosts=["a.example"])
    found = await values.get("TOKEN", user_id=people.ann.id, group_id=people.first.id)
    assert (found, hosts_of(found)) == ("group-token", ("a.example",))
    await values.put("TOKEN", "my-token", ann)
    found = await values.get("TOKEN", user_id=people.ann.id, group_id=people.first.id)
    assert (found, hosts_of(found)) == ("my-token", ())


@pytest.mark.parametrize("limit", [1, 2, 3])
async def test_pages_lose_nothing(storage: Storage, people: People, limit: int) -> None:
    """A page may end within one name: its `place` leads to the next owner's setting."""
    ann, group = owners(people)
    keys = [Fernet.generate_key().decode()]
    values = SettingValues(storage.settings, Sealer(lambda: keys))
    for name in ("A", "B"):
        for owner in (ann, group):
            await values.put(name, "x", owner)
    seen: list[tuple[str, SettingOwner]] = []
    after = ""
    while page := await values.list([ann, group], after=after, limit=limit):
        seen += [(info.name, info.owner) for info in page]
        after = page[-1].place
    assert seen == [("A", ann), ("A", group), ("B", ann), ("B", group)]
    assert [info.name for info in await values.list([ann, group], after="A")] == ["B", "B"]


async def test_delete_is_exact(storage: Storage, people: People) -> None:
    """Only the named owner's setting goes."""
    ann, group = owners(people)
    await put(storage, "KEY", ann)
    await put(storage, "KEY", group)
    assert await storage.settings.delete("KEY", ann)
    assert not await storage.settings.delete("KEY", ann)
    assert await storage.settings.find("KEY", group) is not None


async def test_rotation_replaces_what_it_read(storage: Storage, people: People) -> None:
    """New ciphertexts are written; a value that was set or deleted meanwhile is left alone."""
    ann, group = owners(people)
    for name in ("KEPT", "SET", "GONE"):
        await put(storage, name, ann, b"old")
    await put(storage, "KEPT", group, b"other")
    read = await storage.settings.every()
    assert [row.sealed for row in read] == [b"old", b"old", b"old", b"other"]
    await put(storage, "SET", ann, b"set")
    await storage.settings.delete("GONE", ann)
    await storage.settings.replace_sealed([replace(row, sealed=b"new") for row in read])
    now: dict[tuple[str, SettingOwner], SealedSetting] = {
        (row.name, row.owner): row for row in await storage.settings.every()
    }
    assert {place: row.sealed for place, row in now.items()} == {
        ("KEPT", ann): b"new",
        ("KEPT", group): b"new",
        ("SET", ann): b"set",
    }
    assert now["KEPT", ann].updated_at == read[0].updated_at
