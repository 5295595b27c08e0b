"""The contract of PinStore: first sights, holds, a person's word, and two processes at once."""

from __future__ import annotations

import asyncio
from dataclasses import replace
from typing import Any

import pytest

from toolcrib.catalog.capabilities import CapabilityDraft
from toolcrib.catalog.judging import Rules
from toolcrib.catalog.packages import PackageDraft
from toolcrib.catalog.pins import (
    MOST_OF_A_TOOL,
    Pin,
    Sighting,
    fingerprint_of_definition,
    sighting_of,
    source_of,
)
from toolcrib.errors import Conflict
from toolcrib.storage import Storage, open_storage
from toolcrib.tools.provenance import Provenance
from toolcrib.tools.spec import ToolSpec

HOLD = Rules().judge
SOURCE = "mcp:7"


def seen(description: str, name: str = "search", source: str = SOURCE, **more: Any) -> Sighting:
    spec = ToolSpec(name=name, description=description, **more)
    return sighting_of(source, spec, f"mcp:wiki/{name}", None)


async def server_row(storage: Storage) -> str:
    """The source that a new capability is."""
    draft = CapabilityDraft(name="Wiki", code="wiki", type="mcp", options={"server_url": "x"})
    return f"mcp:{(await storage.capabilities.create(draft)).id}"


def number(source: str) -> int:
    return int(source.removeprefix("mcp:"))


async def states(storage: Storage) -> list[tuple[str, str, str]]:
    found = await storage.pins.list(states=("accepted", "held", "retired", "released"))
    return [(pin.definition["description"], pin.state, pin.how) for pin in found]


async def only(storage: Storage, state: Any) -> Pin:
    [pin] = await storage.pins.list(states=(state,))
    return pin


async def test_first_sight_is_accepted_and_comes_back_as_it_was(storage: Storage) -> None:
    """The definition is kept exact: numbers, half characters, huge integers."""
    schema = {"type": "object", "x": [1.5, 2**80, "\ud800\0", "é\u200b", None, True]}
    sighting = seen("one", input_schema=schema)

    await storage.pins.settle([sighting], HOLD)

    pin = await only(storage, "accepted")
    assert (pin.source, pin.name, pin.ref) == (SOURCE, "search", "mcp:wiki/search")
    assert (pin.how, pin.decided_by, pin.key) == ("first sight", None, "mcp:7/search")
    assert pin.definition["inputSchema"] == schema
    assert fingerprint_of_definition(pin.definition) == sighting.fingerprint
    [mark] = (await storage.pins.marks([SOURCE]))[SOURCE]
    assert (mark.fingerprint, mark.state) == (sighting.fingerprint, "accepted")


async def test_a_change_is_held_and_its_siblings_are_not(storage: Storage) -> None:
    await storage.pins.settle([seen("one"), seen("same", "count")], HOLD)
    await storage.pins.settle([seen("two"), seen("same", "count")], HOLD)

    assert await states(storage) == [
        ("one", "accepted", "first sight"),
        ("same", "accepted", "first sight"),
        ("two", "held", "changed"),
    ]
    assert (await only(storage, "held")).summary == "text changed"


async def test_a_word_is_about_one_definition(storage: Storage) -> None:
    """Accepting retires what was before, and what waited longer; the word has its author."""
    for text in ("one", "two", "three"):
        await storage.pins.settle([seen(text)], HOLD)
    newest = (await storage.pins.list(states=("held",)))[-1]

    accepted = await storage.pins.accept(newest, how="person", user_id=5)

    assert (accepted.state, accepted.decided_by) == ("accepted", 5)
    assert await states(storage) == [
        ("one", "retired", "first sight"),
        ("two", "retired", "changed"),
        ("three", "accepted", "person"),
    ]
    with pytest.raises(Conflict):
        await storage.pins.accept(newest, how="person", user_id=5)


async def test_two_faces_may_both_be_accepted(storage: Storage) -> None:
    await storage.pins.settle([seen("one")], HOLD)
    await storage.pins.settle([seen("two")], HOLD)
    await storage.pins.accept(
        await only(storage, "held"), how="person", user_id=5, keeps_others=True
    )

    assert {state for _, state, _ in await states(storage)} == {"accepted"}


async def test_a_retired_definition_that_comes_back_is_held(storage: Storage) -> None:
    await storage.pins.settle([seen("one")], HOLD)
    await storage.pins.settle([seen("two")], HOLD)
    await storage.pins.accept(await only(storage, "held"), how="person", user_id=5)

    await storage.pins.settle([seen("one")], HOLD)

    assert await states(storage) == [("one", "held", "changed"), ("two", "accepted", "person")]


async def test_an_owners_change_is_accepted_in_their_name(storage: Storage) -> None:
    """Released pins are followed by whatever comes next, once."""
    source = await server_row(storage)
    await storage.pins.settle([seen("one", source=source)], HOLD)
    await storage.capabilities.update(number(source), {"help": "x"}, released_by=9)
    assert await storage.pins.marks([source]) == {source: []}

    await storage.pins.settle([seen("two", source=source)], HOLD)
    await storage.pins.settle([seen("three", source=source)], HOLD)

    assert await states(storage) == [
        ("one", "retired", "first sight"),
        ("two", "accepted", "owner"),
        ("three", "held", "changed"),
    ]
    assert (await only(storage, "accepted")).decided_by == 9


async def test_a_change_that_is_refused_releases_nothing(storage: Storage) -> None:
    """The definition and its pins change in one moment, or neither does."""
    source = await server_row(storage)
    await storage.pins.settle([seen("one", source=source)], HOLD)

    with pytest.raises(Conflict):
        await storage.capabilities.update(
            number(source), {"help": "x"}, expected_version=7, released_by=9
        )

    assert await states(storage) == [("one", "accepted", "first sight")]


async def test_what_is_no_more_the_definition_decides_nothing(storage: Storage) -> None:
    """Somebody who read the row before it was changed must not use up the release."""
    source = await server_row(storage)
    await storage.pins.settle([seen("one", source=source)], HOLD)
    old, new = seen("one", source=source), seen("two", source=source)
    await storage.capabilities.update(number(source), {"help": "x"}, released_by=9)

    with pytest.raises(Conflict, match="changed meanwhile"):
        await storage.pins.settle([replace(old, version=1)], HOLD)
    await storage.pins.settle([replace(new, version=2)], HOLD)

    assert await states(storage) == [
        ("one", "retired", "first sight"),
        ("two", "accepted", "owner"),
    ]


async def test_what_is_gone_is_not_judged(storage: Storage) -> None:
    """A look that began before its package was deleted leaves no pin behind."""
    await storage.packages.install(PackageDraft(slug="find_it", name="Find it", type="http"))
    sighting = replace(seen("one", source="package:find_it"), version=1)
    await storage.packages.delete("find_it")

    with pytest.raises(Conflict, match="changed meanwhile"):
        await storage.pins.settle([sighting], HOLD)

    assert await states(storage) == []


async def test_a_replaced_package_releases_its_pins(storage: Storage) -> None:
    """In the same moment, in the name of whoever replaced it."""
    draft = PackageDraft(slug="find_it", name="Find it", type="http")
    await storage.packages.install(draft)
    await storage.pins.settle([seen("one", source="package:find_it")], HOLD)
    await storage.packages.replace(replace(draft, name="Other"), released_by=9)

    await storage.pins.settle([replace(seen("two", source="package:find_it"), version=2)], HOLD)

    assert (await only(storage, "accepted")).decided_by == 9


async def test_a_lock_accepts_what_nobody_saw_yet(storage: Storage) -> None:
    await storage.pins.settle([seen("one")], HOLD)
    both = [seen("two"), seen("three")]

    await storage.pins.add_accepted(both, how="lock", user_id=1)
    await storage.pins.add_accepted(both, how="lock", user_id=1)
    await storage.pins.settle(both, HOLD)

    assert await states(storage) == [
        ("one", "retired", "first sight"),
        ("two", "accepted", "lock"),
        ("three", "accepted", "lock"),
    ]


async def test_found_by_ref_by_key_and_by_source(storage: Storage) -> None:
    """Two sources may have tools of one ref; a key is one tool's."""
    await storage.pins.settle([seen("one")], HOLD)
    await storage.pins.settle([seen("other", source="mcp:8")], HOLD)

    assert len(await storage.pins.list(ref="mcp:wiki/search")) == 2
    assert [p.source for p in await storage.pins.list(ref="mcp:8/search")] == ["mcp:8"]
    assert [p.source for p in await storage.pins.list(sources={SOURCE})] == [SOURCE]
    assert await storage.pins.list(sources=set()) == []
    first, *_ = await storage.pins.list(limit=1)
    assert [p.source for p in await storage.pins.list(after=first.id)] == ["mcp:8"]


async def test_forgetting(storage: Storage) -> None:
    await storage.pins.settle([seen("one"), seen("same", "count")], HOLD)
    await storage.pins.settle([seen("two")], HOLD)
    held = await only(storage, "held")

    assert await storage.pins.forget(SOURCE, name="search", fingerprint=held.fingerprint) == 1
    assert await storage.pins.forget(SOURCE, name="search") == 1
    assert await storage.pins.forget(SOURCE) == 1
    assert await states(storage) == []


async def test_a_server_that_never_tires_fills_no_table(storage: Storage) -> None:
    """Of one tool so many are kept; what a person accepted is among them."""
    for number in range(MOST_OF_A_TOOL + 15):
        await storage.pins.settle([seen(f"text {number}")], HOLD)

    found = await states(storage)
    assert len(found) == MOST_OF_A_TOOL
    assert found[0] == ("text 0", "accepted", "first sight")
    assert found[-1] == (f"text {MOST_OF_A_TOOL + 14}", "held", "changed")


async def test_of_two_first_sights_one_is_the_first(storage_url: str) -> None:
    """Several processes that see a new tool differently at once: one wins, the others wait."""
    stores = [await open_storage(storage_url) for _ in range(4)]
    sightings = [seen(f"text {number}") for number in range(4)]

    await asyncio.gather(
        *(store.pins.settle([one], HOLD) for store, one in zip(stores, sightings, strict=True))
    )

    assert sorted(state for _, state, _ in await states(stores[0])) == [
        "accepted",
        "held",
        "held",
        "held",
    ]
    for store in stores:
        await store.close()


async def test_thousands_at_once(storage: Storage) -> None:
    """A large catalog is written in batches and read without its definitions."""
    many = [seen(f"Tool number {n}.", f"tool_{n}") for n in range(3000)]

    await storage.pins.settle(many, HOLD)
    await storage.pins.settle(many, HOLD)

    marks = (await storage.pins.marks([SOURCE]))[SOURCE]
    assert len(marks) == 3000
    assert {mark.state for mark in marks} == {"accepted"}


def test_whose_definition_it_is() -> None:
    """Capabilities have their own; a code of Python tools is one for all who name it."""
    assert source_of("native", "search", 4) == "native:search"
    assert source_of("package", "wiki", 4) == "package:wiki"
    assert source_of("mcp", "wiki", 4) == "mcp:4"
    assert source_of("api", "wiki", None) is None
    assert source_of("api", "wiki", -1) is None


def test_what_stands_behind_counts() -> None:
    """The same words with other code, or another upstream, are another definition."""
    spec = ToolSpec(name="search", description="x")
    prints = {
        sighting_of(SOURCE, spec, "r", behind).fingerprint
        for behind in (
            None,
            Provenance(facts={"code": "1"}),
            Provenance(facts={"code": "2"}),
        )
    }
    assert len(prints) == 3
    for behind in (None, Provenance(facts={"code": "1"})):
        sighting = sighting_of(SOURCE, spec, "r", behind)
        assert fingerprint_of_definition(sighting.definition) == sighting.fingerprint


async def test_many_sources_are_settled_at_once(storage: Storage) -> None:
    """Thousands of codes come with a new plugin: each keeps its own tools, and all are there."""
    sources = [f"native:code-{number}" for number in range(700)]
    many = [seen("one", name, source=source) for source in sources for name in ("get", "put")]
    await storage.pins.settle(many, HOLD)
    marks = await storage.pins.marks([*sources, SOURCE])
    assert marks[SOURCE] == []
    assert all(sorted(mark.name for mark in marks[source]) == ["get", "put"] for source in sources)
