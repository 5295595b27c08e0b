"""This module finds tools that a person or a model may take for each other.

It compares sketches, not every pair, so ten thousand tools take seconds.
"""

from __future__ import annotations

import re
import zlib
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Literal

from toolcrib.catalog.characters import skeleton
from toolcrib.catalog.pins import BEHIND, Pin
from toolcrib.tools.canonical import digest

LookalikeKind = Literal["same_name", "near_name", "same_definition", "near_description"]
SAYS: dict[LookalikeKind, str] = {
    "same_name": "several sources have a tool of this name",
    "near_name": "the names differ only in case, separators or letters that look alike",
    "same_definition": "the definitions are equal but for the name: a copy, or a rename",
    "near_description": "the descriptions are nearly the same",
}
NEAR = 0.6
"""The share of neighbouring words that two descriptions have in common to count as near: one word
in ten may be another."""
_WORD = re.compile(r"\w+")
_SEPARATORS = re.compile(r"[\W_]+")
_SHORTEST = 20
"""Characters of a description that says anything."""
_SKETCH = 6
_NEIGHBOURS = 10


@dataclass(frozen=True, kw_only=True, slots=True)
class Lookalikes:
    """Tools that are alike; `similarity` is from 0 to 1, the least of neighbours."""

    kind: LookalikeKind
    pins: Sequence[Pin]
    similarity: float = 1.0


def find_lookalikes(pins: Iterable[Pin]) -> list[Lookalikes]:
    """Groups of tools, each of at least two; a tool counts once, with its newest definition."""
    tools = list({pin.key: pin for pin in sorted(pins, key=lambda p: p.id)}.values())
    found = [
        *_groups("same_name", tools, lambda pin: pin.name),
        *_near_names(tools),
        *_groups("same_definition", tools, _nameless),
        *_near_descriptions(tools),
    ]
    return sorted(found, key=lambda one: (one.kind, one.pins[0].key))


def _groups(
    kind: LookalikeKind, tools: Sequence[Pin], key: Callable[[Pin], str | None]
) -> Iterator[Lookalikes]:
    by_key: defaultdict[str, list[Pin]] = defaultdict(list)
    for pin in tools:
        place = key(pin)
        if place is not None:
            by_key[place].append(pin)
    for alike in by_key.values():
        if len(alike) > 1:
            yield Lookalikes(kind=kind, pins=alike)


def _near_names(tools: Sequence[Pin]) -> Iterator[Lookalikes]:
    for one in _groups("near_name", tools, lambda pin: bare_name(pin.name)):
        if len({pin.name for pin in one.pins}) > 1:
            yield one


def bare_name(name: str) -> str:
    """The name as a hurried reader takes it."""
    return _SEPARATORS.sub("", skeleton(name).casefold()) or name


def _description(pin: Pin) -> str:
    text = pin.definition.get("description")
    return text if isinstance(text, str) else ""


def _nameless(pin: Pin) -> str | None:
    if len(_description(pin)) < _SHORTEST:
        return None
    kept = {k: v for k, v in pin.definition.items() if k not in {"name", BEHIND}}
    return digest(kept)


def _near_descriptions(tools: Sequence[Pin]) -> Iterator[Lookalikes]:
    """Equal texts first, then those whose sketches meet."""
    by_text: defaultdict[str, list[Pin]] = defaultdict(list)
    for pin in tools:
        if len(_description(pin)) >= _SHORTEST:
            by_text[" ".join(_WORD.findall(skeleton(_description(pin)).casefold()))].append(pin)
    texts = list(by_text)
    shingles = [_shingles(text) for text in texts]
    parent = list(range(len(texts)))
    likeness: dict[int, float] = {}
    for one, other in _candidates(shingles):
        share = _jaccard(shingles[one], shingles[other])
        if share >= NEAR:
            root, leaf = _root(parent, one), _root(parent, other)
            least = min(likeness.get(root, 1.0), likeness.get(leaf, 1.0), share)
            parent[leaf] = root
            likeness[root] = least
    clusters: defaultdict[int, list[Pin]] = defaultdict(list)
    for number, text in enumerate(texts):
        clusters[_root(parent, number)] += by_text[text]
    for root, alike in clusters.items():
        if len(alike) > 1 and len({_nameless(pin) for pin in alike}) > 1:
            share = round(likeness.get(root, 1.0), 3)
            yield Lookalikes(kind="near_description", pins=alike, similarity=share)


def _shingles(text: str) -> frozenset[int]:
    """Hashes of every two words in a row; they are the same in every process."""
    words = text.split()
    rows = (" ".join(words[i : i + 2]) for i in range(max(1, len(words) - 1)))
    return frozenset(zlib.crc32(row.encode("utf-8", "surrogatepass")) for row in rows)


def _candidates(shingles: Sequence[frozenset[int]]) -> Iterator[tuple[int, int]]:
    """Pairs that share one of their smallest hashes; of a crowd only neighbours in size."""
    buckets: defaultdict[int, list[int]] = defaultdict(list)
    for number, hashes in enumerate(shingles):
        for value in sorted(hashes)[:_SKETCH]:
            buckets[value].append(number)
    seen: set[tuple[int, int]] = set()
    for crowd in buckets.values():
        ordered = sorted(crowd, key=lambda n: (len(shingles[n]), n))
        for place, one in enumerate(ordered):
            for other in ordered[place + 1 : place + 1 + _NEIGHBOURS]:
                pair = (min(one, other), max(one, other))
                if pair not in seen:
                    seen.add(pair)
                    yield pair


def _jaccard(one: frozenset[int], other: frozenset[int]) -> float:
    small, large = sorted((len(one), len(other)))
    if small < NEAR * large:
        return 0.0
    common = len(one & other)
    return common / (small + large - common)


def _root(parent: list[int], number: int) -> int:
    while parent[number] != number:
        parent[number] = parent[parent[number]]
        number = parent[number]
    return number
