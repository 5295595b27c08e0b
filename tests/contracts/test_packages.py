"""The contract of PackageStore and SecretStore."""

from __future__ import annotations

from typing import Any

import pytest

from tests.contracts.people import People
from toolcrib.catalog.capabilities import CapabilityDraft, Reach
from toolcrib.catalog.packages import PackageDraft
from toolcrib.errors import Conflict, NotFound
from toolcrib.grants.agents import AgentDraft
from toolcrib.secrets.sealing import Sealer, new_key
from toolcrib.secrets.vault import Vault
from toolcrib.storage import Storage

DRAFT = PackageDraft(
    slug="find_it",
    name="Find it",
    type="http",
    config={"url": "{{FIND_URL}}/x", "headers": {"X-Key": "{{FIND_KEY}}"}},
    input_schema={"type": "object", "properties": {"q": {"type": "string"}}},
)


async def test_a_package_comes_back_as_it_was_installed(storage: Storage) -> None:
    """Enabled, never tested, every field in place."""
    made = await storage.packages.install(DRAFT)

    assert await storage.packages.find("find_it") == made
    assert (made.config, made.input_schema) == (DRAFT.config, DRAFT.input_schema)
    assert (made.enabled, made.last_test, made.version, made.code) == (
        True,
        None,
        1,
        "installed__find_it",
    )


async def test_an_installed_slug_is_not_overwritten(storage: Storage) -> None:
    """The conflict shows the row that is there, unchanged."""
    made = await storage.packages.install(DRAFT)

    with pytest.raises(Conflict) as caught:
        await storage.packages.install(PackageDraft(slug="find_it", name="Other", type="http"))

    assert caught.value.current == made
    assert await storage.packages.find("find_it") == made


async def test_replacing_is_on_purpose_and_forgets_the_test(storage: Storage) -> None:
    """Another definition under the slug has not been tested."""
    await storage.packages.install(DRAFT)
    await storage.packages.update("find_it", {"last_test": {"success": True}})

    made = await storage.packages.replace(PackageDraft(slug="find_it", name="Other", type="http"))

    assert (made.name, made.config, made.last_test, made.version) == ("Other", {}, None, 3)
    with pytest.raises(NotFound):
        await storage.packages.replace(PackageDraft(slug="nowhere", name="x", type="http"))


async def test_switching_listing_and_deleting(storage: Storage) -> None:
    """By slug, with a place to go on from."""
    for slug in ("b", "a", "c"):
        await storage.packages.install(PackageDraft(slug=slug, name=slug, type="http"))
    await storage.packages.update("b", {"enabled": False})

    assert [p.slug for p in await storage.packages.list(after="a", limit=1)] == ["b"]
    assert [p.enabled for p in await storage.packages.list()] == [True, False, True]
    assert await storage.packages.delete("b")
    assert not await storage.packages.delete("b")
    assert await storage.packages.find("b") is None


async def test_what_was_granted_to_a_package_goes_with_it(storage: Storage, people: People) -> None:
    """Agents and capabilities lose the code; another package of the slug is nobody's."""
    await storage.packages.install(DRAFT)
    codes = ("installed__find_it", "installed__find_it_too")
    agent = await storage.agents.create(AgentDraft(name="a", creator_id=people.ann.id, codes=codes))
    await storage.agents.create(AgentDraft(name="b", creator_id=people.ann.id, codes=codes[1:]))

    def row(code: str, group_id: int | None = None) -> CapabilityDraft:
        kind: Any = "user" if group_id is None else "group"
        return CapabilityDraft(name=code, code=code, access_type=kind, group_id=group_id)

    alone = await storage.capabilities.create(row(codes[0]))
    mixed = await storage.capabilities.create(row(f"crm,{codes[0]}"))
    twin = await storage.capabilities.create(row(f"hr,{codes[0]}", people.first.id))
    other = await storage.capabilities.create(row("hr", people.first.id))

    assert await storage.packages.delete("find_it")
    await storage.packages.install(DRAFT)

    held = [one.codes for one in await storage.agents.list(group_ids=None, creator_id=None)]
    assert held == [codes[1:], codes[1:]]
    assert (await storage.agents.find(agent.id) or agent).version == agent.version + 1
    ids = [alone.id, mixed.id, twin.id, other.id]
    found = await storage.capabilities.find_many(ids)
    assert [(one.code, one.archived) for one in found] == [
        (codes[0], True),
        ("crm", False),
        (f"hr,{codes[0]}", True),
        ("hr", False),
    ]
    everything = Reach(everything=True)
    assert await storage.capabilities.list(reach=everything, code=codes[0]) == []
    assert await storage.capabilities.list(reach=everything, code="crm") == [found[1]]


async def test_another_version_is_neither_replaced_nor_deleted(storage: Storage) -> None:
    """The conflict shows the row that is there."""
    await storage.packages.install(DRAFT)
    now = await storage.packages.update("find_it", {"enabled": False})

    for change in (
        lambda: storage.packages.delete("find_it", expected_version=1),
        lambda: storage.packages.replace(DRAFT, expected_version=1),
    ):
        with pytest.raises(Conflict) as caught:
            await change()
        assert (caught.value.current, await storage.packages.find("find_it")) == (now, now)

    assert not await storage.packages.delete("nowhere", expected_version=1)
    assert await storage.packages.delete("find_it", expected_version=2)


async def test_who_uses_a_secret(storage: Storage) -> None:
    """Only packages whose config names it."""
    await storage.packages.install(DRAFT)
    await storage.packages.install(PackageDraft(slug="other", name="x", type="http"))

    assert await storage.packages.using("FIND_KEY") == ["find_it"]
    assert await storage.packages.using("NOBODY") == []


async def test_secrets_are_sealed_and_rotated(storage: Storage) -> None:
    """A value comes back with its hosts, under the newest key too; without a key it is named."""
    keys = [new_key()]
    vault = Vault(storage.secrets, Sealer(lambda: keys))
    await vault.put("API_KEY", "the value", hosts=["api.example"])
    await vault.put("BLANK", "  ")
    keys.insert(0, new_key())

    assert await vault.rotate() == 2
    keys.pop()

    value = await vault.get("API_KEY")
    assert (str(value), value.hosts) == ("the value", ("api.example",))
    keys[:] = [new_key()]
    assert await Vault(storage.secrets, Sealer(lambda: keys)).status("API_KEY") == "undecryptable"
    assert [(s.name, s.hosts) for s in await vault.list()] == [
        ("API_KEY", ("api.example",)),
        ("BLANK", ()),
    ]


async def test_missing_and_blank_secrets_are_missing(storage: Storage) -> None:
    """A blank value may be stored and counts as none."""
    vault = Vault(storage.secrets, Sealer(lambda: ["A" * 43 + "="]))
    await vault.put("BLANK", " ")

    assert await vault.status("BLANK") == "missing"
    assert await vault.status("NOWHERE") == "missing"
    assert await vault.delete("BLANK")
    assert not await vault.delete("BLANK")
