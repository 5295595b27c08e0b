"""Lists stay fast when tables grow: SQLite's plan shows that no table is read whole."""

from __future__ import annotations

import re
from collections.abc import AsyncIterator

import pytest
from sqlalchemy import event, text

from tests.contracts.databases import SqliteFiles, opened
from toolcrib.catalog.capabilities import Reach
from toolcrib.invocation.journal import CallFilter
from toolcrib.storage import Storage


@pytest.fixture
async def storage(sqlite_files: SqliteFiles) -> AsyncIterator[Storage]:
    async with opened(sqlite_files.make()) as storage:
        yield storage


async def plans(storage: Storage, ask: object) -> list[str]:
    """The plans of all statements that the coroutine sends."""
    sent: list[tuple[str, object]] = []
    engine = storage.database._engine.sync_engine

    def remember(connection, cursor, statement, parameters, *_: object) -> None:
        sent.append((statement, parameters))

    event.listen(engine, "before_cursor_execute", remember)
    await ask  # type: ignore[misc]
    event.remove(engine, "before_cursor_execute", remember)
    lines: list[str] = []
    async with storage.database.read() as connection:
        for statement, parameters in sent:
            if statement.startswith("SELECT"):
                plan = await connection.exec_driver_sql(
                    f"EXPLAIN QUERY PLAN {statement}", parameters
                )
                lines += [row[-1] for row in plan]
    assert lines
    return lines


def whole_tables(lines: list[str]) -> list[str]:
    return [x for x in lines if re.match(r"SCAN (?!anon_|CONSTANT|\()", x) and "USING" not in x]


@pytest.mark.parametrize(
    "chosen",
    [
        CallFilter(own_user_id=1),
        CallFilter(own_user_id=1, group_ids=frozenset({1, 2})),
        CallFilter(own_user_id=1, group_ids=frozenset({1, 2}), success=False),
    ],
    ids=str,
)
async def test_own_calls_are_read_along_their_index(storage: Storage, chosen: CallFilter) -> None:
    """A user with few calls in a large journal reads only those."""
    lines = await plans(storage, storage.journal.list(chosen, before="call_9"))
    assert whole_tables(lines) == []
    assert any("calls_by_user" in line for line in lines)


async def test_codes_are_found_by_index(storage: Storage) -> None:
    """The rows of one code are found among 10,000 without reading the others."""
    async with storage.database.write() as connection:
        await connection.execute(
            text(
                "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 10000)"
                " INSERT INTO capabilities (id, name, code, type, description, is_default,"
                " ordering, access_type, archived, help, help_url, version, created_at, updated_at)"
                " SELECT i, 'c', 'c' || i, 'internal', '', 0, 0, 'user', 0, '', '', 1,"
                " '2026-01-01 00:00:00.000000', '2026-01-01 00:00:00.000000' FROM n"
            )
        )
        await connection.execute(
            text("INSERT INTO capability_codes SELECT code, id FROM capabilities")
        )
        await connection.execute(text("ANALYZE"))
    store = storage.capabilities
    for ask in (
        store.list(reach=Reach(), code="c77"),
        store.find_many([5, 900, 9000]),
        store.defaults(group_id=1, owner_id=1),
    ):
        assert whole_tables(await plans(storage, ask)) == []
    assert [row.id for row in await store.list(reach=Reach(), code="c77")] == [77]
