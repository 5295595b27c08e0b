"""This module checks what the garbage collector looks at in a server."""

from __future__ import annotations

import gc
import weakref
from collections.abc import Iterator

import pytest

from toolcrib.asgi.collecting import YOUNG, SetAside, collecting_rarely


class Clock:
    """Seconds that pass when a test says so."""

    def __init__(self) -> None:
        self.now = 0.0

    def __call__(self) -> float:
        return self.now


class Node:
    """Something that may refer to itself."""

    def __init__(self) -> None:
        self.itself: Node | None = None


def knot() -> Node:
    """An object that only the collector can end."""
    node = Node()
    node.itself = node
    return node


@pytest.fixture
def clock() -> Iterator[Clock]:
    """The clock of a callback that is installed."""
    clock = Clock()
    aside = SetAside(clock=clock)
    gc.callbacks.append(aside)
    yield clock
    gc.callbacks.remove(aside)
    gc.unfreeze()


def test_a_server_collects_rarely_and_leaves_all_as_it_was() -> None:
    """What is there at its start is set aside, and what survives a full collection."""
    usual, callbacks = gc.get_threshold(), list(gc.callbacks)
    with collecting_rarely():
        assert gc.get_threshold()[0] == YOUNG
        at_first = gc.get_freeze_count()
        assert at_first > 1000
        kept = [Node() for _ in range(100)]
        gc.collect()
        assert gc.get_freeze_count() >= at_first + len(kept)
    assert gc.get_threshold() == usual
    assert gc.callbacks == callbacks
    assert gc.get_freeze_count() == 0


def test_younger_collections_set_nothing_aside(clock: Clock) -> None:
    """What is in use for a moment only must not be kept for long."""
    gc.collect(1)
    assert gc.get_freeze_count() == 0


def test_what_was_set_aside_is_looked_at_again(clock: Clock) -> None:
    """Garbage among it stays for half an hour, and no longer."""
    node = knot()
    gone = weakref.ref(node)
    gc.collect()
    del node
    clock.now = 1799.0
    gc.collect()
    assert gone() is not None
    clock.now = 1800.0
    gc.collect()
    assert gone() is None
    later = weakref.ref(knot())
    gc.collect()
    assert later() is None  # never set aside, it was found at once
