"""This module ranks short texts by a query: BM25 over their words, in process."""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Sequence

_WORD = re.compile(r"\w+")
_K, _B = 1.5, 0.75
"""BM25's usual constants: how soon a repeated word stops counting, how much length matters."""


def best(query: str, texts: Sequence[str], *, most: int) -> list[int]:
    """The places of the texts that share a word with the query, the best first."""
    asked = set(words(query))
    bags = [Counter(words(text)) for text in texts]
    sizes = [bag.total() for bag in bags]
    average = sum(sizes) / len(sizes) if sizes else 0.0
    weights = {word: _weight(sum(word in bag for bag in bags), len(bags)) for word in asked}
    scores = [
        sum(
            weight * _share(bag[word], size, average)
            for word, weight in weights.items()
            if word in bag
        )
        for bag, size in zip(bags, sizes, strict=True)
    ]
    found = [place for place, score in enumerate(scores) if score > 0]
    return sorted(found, key=lambda place: (-scores[place], place))[:most]


def words(text: str) -> list[str]:
    return _WORD.findall(text.casefold())


def passages(text: str, *, size: int = 800) -> list[str]:
    """The text in pieces of about `size` characters, cut between lines or words."""
    pieces: list[str] = []
    rest = text.strip()
    while len(rest) > size:
        cut = max(rest.rfind("\n", size // 2, size), rest.rfind(" ", size // 2, size))
        cut = cut if cut > 0 else size
        pieces.append(rest[:cut].strip())
        rest = rest[cut:].strip()
    return [piece for piece in [*pieces, rest] if piece]


def _weight(holding: int, total: int) -> float:
    return math.log(1 + (total - holding + 0.5) / (holding + 0.5))


def _share(count: int, size: int, average: float) -> float:
    return count * (_K + 1) / (count + _K * (1 - _B + _B * size / average))
