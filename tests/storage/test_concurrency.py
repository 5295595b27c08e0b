"""Several tasks and processes on one database: nothing lost, nothing locked, nothing leaked."""

from __future__ import annotations

import asyncio
import random
from typing import Any

import pytest

from tests.contracts.people import add_agent, add_people
from tests.storage import children
from toolcrib.invocation.journal import CallFilter
from toolcrib.storage import Storage, open_storage

COUNTING = """
    import asyncio, random, sys
    from datetime import UTC, datetime
    from toolcrib.errors import Conflict
    from toolcrib.invocation.ids import new_call_id
    from toolcrib.invocation.journal import CallStart
    from toolcrib.storage import open_storage

    async def count_up(storage, agent_id, times):
        for _ in range(times):
            agent = await storage.agents.find(agent_id)
            while True:
                extra = {"count": agent.extra.get("count", 0) + 1}
                try:
                    await storage.agents.update(
                        agent_id, {"extra": extra}, expected_version=agent.version)
                    break
                except Conflict as stale:
                    agent = stale.current
                    await asyncio.sleep(random.random() / 2)
            await storage.journal.start(CallStart(
                call_id=new_call_id(), ref="r", tool="t", read_only=False, user_id=1,
                group_id=None, agent_id=agent_id, chat_id=None,
                started_at=datetime.now(UTC), arguments={}))

    async def main():
        storage = await open_storage(sys.argv[1])
        async with asyncio.TaskGroup() as group:
            for _ in range(32):
                group.create_task(count_up(storage, int(sys.argv[2]), 1))
        await storage.close()

    asyncio.run(main())
"""


async def test_no_update_is_lost(storage_url: str) -> None:
    """Two processes of 32 tasks count one versioned row up: every step is in the sum."""
    storage = await open_storage(storage_url)
    agent = await add_agent(storage, await add_people(storage))
    started = [await children.start(COUNTING, storage_url, str(agent.id)) for _ in range(2)]
    await children.finish(*started)
    counted = await storage.agents.find(agent.id)
    assert counted is not None
    assert counted.extra == {"count": 64}
    assert counted.version == 65
    assert len(await storage.journal.list(CallFilter(everything=True), limit=500)) == 64
    await storage.close()


async def test_one_of_many_wins_a_name(storage: Storage) -> None:
    """Of twenty tasks that want the same name at once, one gets it."""
    results = await asyncio.gather(
        *(storage.groups.create(name="Sales") for _ in range(20)), return_exceptions=True
    )
    assert [type(result).__name__ for result in results].count("Group") == 1
    assert [type(result).__name__ for result in results].count("Conflict") == 19
    assert len(await storage.groups.list()) == 1


async def test_cancelled_tasks_leave_nothing_locked(storage: Storage) -> None:
    """Writers and readers that are cancelled at any point hold up nobody afterwards."""
    chance = random.Random(7)  # noqa: S311 - the same test each time
    people = await add_people(storage)

    async def work(n: int) -> None:
        await storage.groups.create(name=f"g{n}")
        await storage.users.update(people.ann.id, entitlements=frozenset({str(n)}))
        await storage.users.list()

    tasks = [asyncio.create_task(work(n)) for n in range(60)]
    for task in chance.sample(tasks, 50):
        await asyncio.sleep(chance.random() / 200)
        task.cancel()
    results = await asyncio.gather(*tasks, return_exceptions=True)
    assert {type(result) for result in results} <= {type(None), asyncio.CancelledError}
    async with asyncio.timeout(60):
        await storage.groups.create(name="after")
        ann = await storage.users.find(people.ann.id)
    groups = await storage.groups.list(limit=1000)
    assert groups[-1].name == "after"
    assert ann is not None
    finished = sum(result is None for result in results)
    assert ann.version > finished


async def test_a_statement_that_is_not_read_holds_no_lock(storage: Storage) -> None:
    """Whoever was cancelled in it may still hold it, with the traceback, when its connection is
    gone."""
    await storage.groups.create(name="before")
    held: list[Any] = []

    async def cancelled() -> None:
        async with storage.database.write() as connection:
            driver: Any = (await connection.get_raw_connection()).driver_connection
            held.append(await driver.execute("UPDATE groups SET name = 'lost' RETURNING id"))
            await connection.invalidate()
            raise asyncio.CancelledError

    with pytest.raises(asyncio.CancelledError):
        await cancelled()
    async with asyncio.timeout(20):
        await storage.groups.create(name="after")
    held.clear()
    assert [group.name for group in await storage.groups.list()] == ["before", "after"]


async def test_readers_do_not_wait_for_a_writer(storage: Storage) -> None:
    """While a transaction writes, lists show what was there before."""
    before = await storage.groups.create(name="before")
    async with storage.database.write() as connection:
        await connection.exec_driver_sql("UPDATE groups SET name = 'changed'")
        async with asyncio.timeout(60):
            assert await storage.groups.list() == [before]
    assert [group.name for group in await storage.groups.list()] == ["changed"]
