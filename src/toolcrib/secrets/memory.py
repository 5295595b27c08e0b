"""This module remembers what was made of settings and secrets, until the next change of any.

A value is unsealed once and kept by the generation number of the settings, with all that is made of
it: open sources, compiled requests, masks. When the number rises, everything is dropped at once.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable, Hashable
from itertools import count
from typing import Any, Generic, TypeVar

Value = TypeVar("Value")


class Kept(Generic[Value]):
    """Some of what a Memory holds, by key: the last `most` that were used."""

    def __init__(
        self, memory: Memory, most: int, dropped: Callable[[Value], None] | None = None
    ) -> None:
        self._memory = memory
        self._most = most
        self._dropped = dropped
        self._items: OrderedDict[Hashable, Value] = OrderedDict()

    def get(self, key: Hashable) -> Value | None:
        self._memory.now()
        value = self._items.get(key)
        if value is not None:
            self._items.move_to_end(key)
        return value

    def put(self, key: Hashable, value: Value, *, made_at: int) -> None:
        """Keep a value, unless something changed since `made_at`, when its making began."""
        if self._memory.now() != made_at:
            return
        self._items[key] = value
        if len(self._items) > self._most:
            _, oldest = self._items.popitem(last=False)
            if self._dropped is not None:
                self._dropped(oldest)

    def now(self) -> int:
        """The number that a value is made at: ask before its making begins."""
        return self._memory.now()

    def discard(self, key: Hashable) -> None:
        self._items.pop(key, None)

    def clear(self) -> None:
        if self._dropped is not None:
            for value in self._items.values():
                self._dropped(value)
        self._items.clear()

    def __len__(self) -> int:
        return len(self._items)

    def __repr__(self) -> str:
        return f"Kept({len(self._items)})"


class Memory:
    """What is kept until the settings change. `generation` rises with every change of one.

    Without it nothing is remembered.
    """

    def __init__(self, generation: Callable[[], int] | None = None) -> None:
        self._generation = generation or count().__next__
        self._seen: int | None = None
        self._shelves: list[Kept[Any]] = []

    def shelf(
        self, *, most: int = 4096, dropped: Callable[[Value], None] | None = None
    ) -> Kept[Value]:
        """A place for values of one kind. `dropped` is told of each that is not kept any more."""
        made: Kept[Value] = Kept(self, most, dropped)
        self._shelves.append(made)
        return made

    def now(self) -> int:
        """The present number; whatever was kept at an earlier one is dropped."""
        generation = self._generation()
        if generation != self._seen:
            self._seen = generation
            self.forget()
        return generation

    def forget(self) -> None:
        """Drop everything, as the news of a change asks."""
        for shelf in self._shelves:
            shelf.clear()
