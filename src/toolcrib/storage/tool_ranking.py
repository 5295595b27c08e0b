"""This module ranks tools by the words of a query, with SQLite's full-text search in memory.

An index holds the tools of one Toolset and lives in this process, whatever the database is: what
a caller may use is decided before, so a search cannot see anything else.
"""

from __future__ import annotations

import re
import sqlite3
import threading
from collections import OrderedDict
from collections.abc import Iterator, Sequence

from toolcrib.resolution.ranking import Ranked, Searchable
from toolcrib.tools.turns import aside

_KEPT = 32
"""Indexes of different sets of tools that are kept."""
_CREATE = (
    "CREATE VIRTUAL TABLE tools USING fts5(name, words, title, description, parameters, "
    "content='', prefix='2 3', tokenize='porter unicode61 remove_diacritics 2')"
)
# The function in ORDER BY costs a third less than the same weights in the table's own `rank`.
_FIND = (
    "SELECT rowid FROM tools WHERE tools MATCH ? "
    "ORDER BY bm25(tools, 10.0, 8.0, 5.0, 2.0, 1.0) LIMIT ?"
)
_COUNT = "SELECT count(*) FROM tools WHERE tools MATCH ?"
_COUNTED = 2048
_HUMP = re.compile(r"(?<=[a-z0-9])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])|(?<=[a-zA-Z])(?=[0-9])")
_WORD = re.compile(r"\w+")
# Scripts that are written without spaces: each sign is a word, and several of them a phrase.
_SIGN = re.compile(r"([\u2e80-\u9fff\uac00-\ud7af\uf900-\ufaff\U00020000-\U0003ffff])")
_STOP = frozenset(
    {"a", "an", "and", "by", "for", "from", "i", "in", "into", "is", "it", "me", "my", "of", "on"}
    | {"or", "the", "to", "tool", "want", "with"}
)
_COMMON = 20
"""A word that more than one tool in so many has is looked for last, if others are there."""


class FtsRanking:
    """Ranking with one index for each set of tools."""

    def __init__(self) -> None:
        self._indexes: OrderedDict[tuple[Searchable, ...], FtsRanked] = OrderedDict()

    async def of(self, tools: Sequence[Searchable]) -> Ranked:
        key = tuple(tools)
        index = self._indexes.get(key)
        if index is None:
            index = await aside(len(key), lambda: FtsRanked(key))
            self._indexes[key] = index
        self._indexes.move_to_end(key)
        while len(self._indexes) > _KEPT:
            self._indexes.popitem(last=False)
        return index


class FtsRanked:
    """The index of one set of tools."""

    def __init__(self, tools: Sequence[Searchable]) -> None:
        self._count = len(tools)
        self._by_name = {tool.name.casefold(): place for place, tool in enumerate(tools)}
        self._counts: dict[str, int] = {}
        self._lock = threading.Lock()
        self._connection = sqlite3.connect(":memory:", check_same_thread=False)
        with self._connection as connection:
            connection.execute(_CREATE)
            connection.executemany(
                "INSERT INTO tools(rowid, name, words, title, description, parameters) "
                "VALUES (?, ?, ?, ?, ?, ?)",
                _documents(tools),
            )

    async def find(self, query: str, *, limit: int, offset: int = 0) -> Sequence[int]:
        words = words_of(query)
        if not words:
            return range(self._count)[offset : offset + limit] if not query.strip() else ()
        return await aside(self._count, lambda: self._find(query, words, limit, offset))

    def _find(self, query: str, words: Sequence[str], limit: int, offset: int) -> list[int]:
        exact = self._by_name.get(query.strip().casefold())
        found = {} if exact is None else {exact: None}
        for expression in self._expressions(words):
            if len(found) < limit + offset:
                found |= dict.fromkeys(self._match(expression, limit + offset))
        return list(found)[offset : offset + limit]

    def _expressions(self, words: Sequence[str]) -> Iterator[str]:
        """What has all the words; has them as beginnings; has at least one of them, the telling
        ones first: to rank half of all tools by what half of them say takes long."""
        beginnings = [_beginning(word) if len(words) > 1 else f"{word}*" for word in words]
        yield " AND ".join(words)
        yield " AND ".join(beginnings)
        if len(words) > 1:
            rare = [one for one in beginnings if self._count_of(one) * _COMMON <= self._count]
            if 0 < len(rare) < len(beginnings):
                yield " OR ".join(rare)
            yield " OR ".join(beginnings)

    def _count_of(self, expression: str) -> int:
        """How many tools it fits; known for the words that were asked for last."""
        known = self._counts.get(expression)
        if known is None:
            with self._lock:
                known = self._connection.execute(_COUNT, (expression,)).fetchone()[0]
            if len(self._counts) >= _COUNTED:
                self._counts.clear()
            self._counts[expression] = known
        return known

    def _match(self, expression: str, limit: int) -> list[int]:
        with self._lock:
            rows = self._connection.execute(_FIND, (expression, limit)).fetchall()
        return [row[0] for row in rows]


def words_of(query: str) -> list[str]:
    """The query's words as FTS5 takes them, in quotes."""
    found = [_SIGN.sub(r" \1 ", word).strip() for word in _WORD.findall(_HUMP.sub(" ", query))]
    words = [part for word in found for part in _parts(word)]
    telling = [word for word in words if word.casefold() not in _STOP] or words
    return [f'"{word}"' for word in dict.fromkeys(telling)][:32]


def _beginning(word: str) -> str:
    """Among several words a single letter is not the beginning of everything: `"a"` is three."""
    return f"{word}*" if len(word) > 3 else word


def _parts(word: str) -> list[str]:
    """A run of signs stays a phrase; `snake_case` is several words."""
    if _SIGN.search(word):
        return [word.replace("_", " ")]
    return [part for part in word.split("_") if part]


def _documents(tools: Sequence[Searchable]) -> Iterator[tuple[int, str, str, str, str, str]]:
    for place, tool in enumerate(tools):
        words = _HUMP.sub(" ", tool.name).replace("_", " ").replace("-", " ")
        texts = (tool.name, words, tool.title, tool.description, _HUMP.sub(" ", tool.parameters))
        name, words, title, description, parameters = (_SIGN.sub(r" \1 ", text) for text in texts)
        yield place, name, words, title, description, parameters
