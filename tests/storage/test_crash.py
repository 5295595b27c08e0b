"""The journal's promise when a process is killed: what had begun is on disk."""

from __future__ import annotations

import asyncio

from tests.storage import children
from toolcrib.invocation.journal import CallFilter
from toolcrib.storage import open_storage

CALLING = """
    import asyncio, os, sys
    from datetime import UTC, datetime
    from toolcrib.invocation.ids import new_call_id
    from toolcrib.invocation.journal import CallEnd, CallStart
    from toolcrib.storage import open_storage

    def tell(*words):
        os.write(1, (" ".join(map(str, words)) + "\\n").encode())

    async def call_on(journal, read_only):
        while True:
            start = CallStart(
                call_id=new_call_id(), ref="r", tool="t", read_only=read_only, user_id=1,
                group_id=None, agent_id=1, chat_id=None, started_at=datetime.now(UTC),
                arguments={"a": 1})
            if read_only:
                journal.note_start(start)
                tell("noted", start.call_id)
                await asyncio.sleep(0.004)
            else:
                tell("starting", start.call_id)
                await journal.start(start)
                tell("started", start.call_id)
            await asyncio.sleep(0.002)
            journal.end(CallEnd(call_id=start.call_id, duration_ms=1.0, success=True))
            tell("ended", start.call_id)

    async def main():
        storage = await open_storage(sys.argv[1])
        async with asyncio.TaskGroup() as group:
            for read_only in (True, False) * 8:
                group.create_task(call_on(storage.journal, read_only))

    asyncio.run(main())
"""


async def test_killed_process_loses_no_start(storage_url: str) -> None:
    """After SIGKILL: all started calls are there, with all that was queued before one of them."""
    process = await children.start(CALLING, storage_url)
    assert process.stdout is not None
    lines = [await process.stdout.readline() for _ in range(1000)]
    process.kill()
    lines += (await process.stdout.read()).splitlines()
    await process.wait()
    told: dict[str, dict[str, int]] = {"starting": {}, "started": {}, "noted": {}, "ended": {}}
    for number, line in enumerate(lines):
        what, call_id = line.decode().split()
        told[what][call_id] = number
    # Whoever waits for a start has what others queued before it written too.
    written = max(told["starting"][call_id] for call_id in told["started"])
    storage = await open_storage(storage_url)
    rows = await storage.journal.list(CallFilter(everything=True), limit=100_000)
    await storage.close()
    found = {row.call_id: row for row in rows}
    assert len(told["started"]) > 10  # enough of them, on a machine of any speed
    assert set(told["started"]) - set(found) == set()
    old = {call_id for call_id, number in told["noted"].items() if number < written}
    assert len(old) > 10
    assert old - set(found) == set()
    ended = {call_id for call_id, number in told["ended"].items() if number < written}
    assert {call_id for call_id in ended if found[call_id].success is not True} == set()


async def test_killed_writer_holds_up_nobody(storage_url: str) -> None:
    """A process killed while it writes leaves a database that others write to at once."""
    process = await children.start(CALLING, storage_url)
    assert process.stdout is not None
    await process.stdout.readline()
    process.kill()
    await process.communicate()
    async with asyncio.timeout(60):
        storage = await open_storage(storage_url)
        await storage.groups.create(name="after")
        await storage.close()
