"""Tools that are taken for each other: found among thousands, and nothing else with them."""

from __future__ import annotations

import random
import time

from tests.catalog.pinned import pin
from toolcrib.catalog.lookalikes import Lookalikes, find_lookalikes
from toolcrib.catalog.pins import Pin

LONG = "Create an issue in the tracker with a title, a body and the names of its labels."


def shown(found: list[Lookalikes]) -> set[tuple[str, frozenset[str]]]:
    return {(one.kind, frozenset(pin.key for pin in one.pins)) for one in found}


def test_each_kind_of_alike() -> None:
    pins = [
        pin(1, "1", "search", "Search the wiki for pages that hold these words."),
        pin(2, "2", "search", "Look up a person in the company's directory by name."),
        pin(3, "3", "create_issue", LONG),
        pin(4, "3", "make_issue", LONG),
        pin(5, "4", "Create-Issue", "Opens the form of another tracker, and fills it in."),
        pin(6, "5", "file_bug", LONG.replace("tracker", "trackers"), inputSchema={"x": 1}),
        pin(7, "6", "sеarch", "Say hello to whoever comes through the door today."),  # Cyrillic e
    ]

    assert shown(find_lookalikes(pins)) == {
        ("same_name", frozenset({"mcp:1/search", "mcp:2/search"})),
        ("near_name", frozenset({"mcp:1/search", "mcp:2/search", "mcp:6/sеarch"})),
        ("near_name", frozenset({"mcp:3/create_issue", "mcp:4/Create-Issue"})),
        ("same_definition", frozenset({"mcp:3/create_issue", "mcp:3/make_issue"})),
        (
            "near_description",
            frozenset({"mcp:3/create_issue", "mcp:3/make_issue", "mcp:5/file_bug"}),
        ),
    }


def test_different_tools_are_not_alike() -> None:
    """Tools that say nothing are not alike for that, nor is a tool alike to its older self."""
    pins = [
        pin(1, "1", "first"),
        pin(2, "1", "second"),
        pin(3, "2", "third", "Delete a page of the wiki for good, with its history."),
        pin(4, "2", "fourth", "Delete a user of the wiki for good, with their mails."),
        pin(5, "2", "fourth", "Delete a user of the wiki for good, with their mail."),
    ]
    assert find_lookalikes(pins) == []


def test_ten_thousand_take_seconds() -> None:
    """The planted pairs are found among tools that share their vocabulary, without comparing
    every pair: that would be fifty million."""
    chance = random.Random(7)  # noqa: S311 - the same words every time
    words = [f"word{n}" for n in range(400)]
    pins: list[Pin] = []
    for number in range(10_000):
        text = " ".join(chance.choices(words, k=20))
        pins.append(pin(number, str(number % 50), f"tool_{number}", text))
    for number in range(100):
        original = pins[number * 90]
        nearly = str(original.definition["description"]) + " now"
        pins.append(pin(20_000 + number, "999", f"shadow_{number}", nearly))

    began = time.process_time()
    found = find_lookalikes(pins)
    spent = time.process_time() - began

    near = [one for one in found if one.kind == "near_description"]
    assert len(near) == 100
    assert all(len(one.pins) == 2 and one.similarity >= 0.9 for one in near)
    assert spent < 30, f"{spent:.1f} s of CPU"


def test_a_crowd_of_one_template_ends() -> None:
    """Ten thousand descriptions that differ in a word or two do not take for ever."""
    pins = [
        pin(
            n, "1", f"get_{n}", f"Get the record number {n} of the table {n % 7} from the database."
        )
        for n in range(10_000)
    ]

    began = time.process_time()
    find_lookalikes(pins)

    assert time.process_time() - began < 60
