"""This module holds the port of search: the tools of one agent, ranked by the words of a query."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple, Protocol


class Searchable(NamedTuple):
    """What a tool can be found by. The first words count most."""

    name: str
    title: str = ""
    description: str = ""
    parameters: str = ""
    """The names of its arguments and what is said of them."""


class Ranked(Protocol):
    """Tools that can be searched."""

    async def find(self, query: str, *, limit: int, offset: int = 0) -> Sequence[int]:
        """Places of the tools that fit, the best one first; without words, all in their order.

        A tool of exactly that name comes first. Any text is a query; none is a syntax error.
        """
        ...


class Ranking(Protocol):
    """Makes tools searchable."""

    async def of(self, tools: Sequence[Searchable]) -> Ranked:
        """The same tools are prepared once, however often they are asked for."""
        ...
