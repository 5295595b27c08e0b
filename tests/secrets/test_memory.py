"""What was made of values lasts until the next change of settings, and no longer."""

from __future__ import annotations

import gc
import weakref

from toolcrib.secrets.memory import Kept, Memory


class Number:
    """A generation number that a test raises."""

    def __init__(self) -> None:
        self.now = 1

    def __call__(self) -> int:
        return self.now


class Thing:
    """Something that was made of a value."""


def test_what_is_kept_comes_back() -> None:
    """Under the key it was kept by."""
    kept: Kept[str] = Memory(Number()).shelf()
    kept.put("a", "made", made_at=kept.now())

    assert (kept.get("a"), kept.get("b")) == ("made", None)


def test_a_change_drops_everything_of_every_shelf() -> None:
    """Also what nobody asks for any more: nothing holds it then."""
    number = Number()
    memory = Memory(number)
    one: Kept[Thing] = memory.shelf()
    two: Kept[Thing] = memory.shelf()
    thing = Thing()
    seen = weakref.ref(thing)
    two.put("k", thing, made_at=two.now())
    del thing

    number.now += 1
    assert one.get("anything") is None
    gc.collect()

    assert (seen(), len(two)) == (None, 0)


def test_news_of_a_change_drops_everything_at_once() -> None:
    """Without waiting for the next question."""
    memory = Memory(Number())
    kept: Kept[str] = memory.shelf()
    kept.put("a", "made", made_at=kept.now())

    memory.forget()

    assert len(kept) == 0


def test_what_was_begun_before_a_change_is_not_kept() -> None:
    """It may have been made of the old value."""
    number = Number()
    kept: Kept[str] = Memory(number).shelf()
    began = kept.now()
    number.now += 1
    kept.put("a", "old", made_at=began)

    assert kept.get("a") is None


def test_the_least_used_goes_first_and_whoever_asked_is_told() -> None:
    """By eviction and by a change alike."""
    number = Number()
    dropped: list[str] = []
    kept: Kept[str] = Memory(number).shelf(most=2, dropped=dropped.append)
    for key in ("a", "b"):
        kept.put(key, f"made of {key}", made_at=kept.now())
    kept.get("a")
    kept.put("c", "made of c", made_at=kept.now())
    first = list(dropped)
    number.now += 1
    kept.now()

    assert (first, sorted(dropped[1:])) == (["made of b"], ["made of a", "made of c"])


def test_without_a_generation_nothing_is_remembered() -> None:
    """Whoever does not follow changes may not keep anything."""
    kept: Kept[str] = Memory().shelf()
    kept.put("a", "made", made_at=kept.now())

    assert kept.get("a") is None
