"""The contract of Journal."""

from __future__ import annotations

import asyncio
from datetime import UTC, datetime, timedelta, timezone
from itertools import pairwise
from types import MappingProxyType
from typing import Any

import pytest

from tests.contracts.databases import opened
from tests.contracts.records import NOON, a_record, a_start, an_end
from toolcrib.errors import SetupError
from toolcrib.invocation.ids import new_call_id
from toolcrib.invocation.journal import CallFilter, CallStart
from toolcrib.storage import Storage, open_storage

ALL = CallFilter(everything=True)


async def test_started_is_there_when_start_returns(storage: Storage, storage_url: str) -> None:
    """Another connection sees the record at once, still without an end."""
    start = a_start(group_id=2, chat_id=3, surface="http")
    await storage.journal.start(start)
    async with opened(storage_url) as other:
        assert await other.journal.find(start.call_id) == a_record(start)


async def test_end_completes_the_record(storage: Storage) -> None:
    """Whether the end comes with the start or long after it, the row is the same."""
    together, apart = a_start(), a_start(read_only=True)
    ends = [
        an_end(together, truncated=True),
        an_end(apart, success=False, error={"code": "timeout", "message": "40 s"}),
    ]
    storage.journal.note_start(together)
    storage.journal.end(ends[0])
    storage.journal.note_start(apart)
    await storage.journal.flush()
    storage.journal.end(ends[1])
    await storage.journal.flush()
    assert await storage.journal.list(ALL) == [
        a_record(apart, ends[1]),
        a_record(together, ends[0]),
    ]


async def test_an_end_may_write_the_arguments_anew(storage: Storage) -> None:
    """With its start or later; the others keep theirs."""
    together, apart, beside = a_start(), a_start(), a_start()
    hidden = {"text": "***"}
    await storage.journal.start(apart)
    await storage.journal.start(beside)
    storage.journal.note_start(together)
    ends = [an_end(together, arguments=hidden), an_end(apart, arguments=hidden), an_end(beside)]
    for end in ends:
        storage.journal.end(end)
    await storage.journal.flush()
    shown = {row.call_id: row.arguments for row in await storage.journal.list(ALL)}
    assert shown == {
        together.call_id: hidden,
        apart.call_id: hidden,
        beside.call_id: beside.arguments,
    }


async def test_queued_records_are_written_without_asking(storage: Storage) -> None:
    """A start and an end that nobody waits for appear by themselves."""
    start = a_start(read_only=True)
    storage.journal.note_start(start)
    storage.journal.end(an_end(start))
    async with asyncio.timeout(60):
        while (found := await storage.journal.find(start.call_id)) is None:  # noqa: ASYNC110
            await asyncio.sleep(0.01)
    assert found == a_record(start, an_end(start))


async def test_close_writes_what_is_queued(storage_url: str) -> None:
    """Nothing is left behind in the queue; afterwards nothing can be started."""
    storage = await open_storage(storage_url)
    starts = [a_start(read_only=True) for _ in range(1000)]
    for start in starts:
        storage.journal.note_start(start)
        storage.journal.end(an_end(start))
    await storage.close()
    await storage.close()
    with pytest.raises(SetupError, match="closed"):
        await storage.journal.start(a_start())
    storage.journal.end(an_end(starts[0]))
    async with opened(storage_url) as again:
        found = await again.journal.list(ALL, limit=2000)
    assert {row.call_id for row in found} == {start.call_id for start in starts}
    assert {row.success for row in found} == {True}


@pytest.mark.parametrize("count", [1, 2, 3, 511, 512, 513, 1500])
async def test_batches_of_every_size(storage: Storage, count: int) -> None:
    """However many records come together, each is written once, with its own end."""
    starts = [a_start(user_id=n) for n in range(count)]
    for start in starts:
        storage.journal.note_start(start)
    await storage.journal.flush()
    for start in starts:
        storage.journal.end(an_end(start, duration_ms=start.user_id / 8))
    await storage.journal.flush()
    found = await storage.journal.list(ALL, limit=2000)
    assert {row.call_id: row.duration_ms for row in found} == {
        start.call_id: start.user_id / 8 for start in starts
    }


async def test_many_callers_at_once(storage: Storage) -> None:
    """Of 200 tasks that start and end calls, every record is there and whole."""

    async def call(start: CallStart) -> None:
        await storage.journal.start(start)
        storage.journal.end(an_end(start))

    starts = [a_start() for _ in range(200)]
    await asyncio.gather(*(call(start) for start in starts))
    await storage.journal.flush()
    found = {row.call_id: row for row in await storage.journal.list(ALL, limit=500)}
    assert found == {start.call_id: a_record(start, an_end(start)) for start in starts}


class Unspeakable:
    """A value that not even Python can show."""

    def __repr__(self) -> str:
        raise RuntimeError("no")


@pytest.mark.parametrize(
    ("given", "kept"),
    [
        ({"π": "π \U0001f600", "n": None, "f": 1.5}, {"π": "π \U0001f600", "n": None, "f": 1.5}),
        ({"nul": "a\0b", "half": "\ud800"}, {"nul": "a\0b", "half": "\ud800"}),
        ({"big": 2**70}, {"big": 2**70}),
        (MappingProxyType({"a": MappingProxyType({"b": 1})}), {"a": {"b": 1}}),
        ({"when": NOON.date()}, {"when": "2026-05-01"}),
        ({"set": {1}, "type": 1j}, {"set": [1], "type": "1j"}),
        ({"nan": float("nan")}, {"nan": None}),
        ({"a": Unspeakable()}, {"unreadable": "RuntimeError"}),
        ({1: "one", "big": 2**70}, {"1": "one", "big": 2**70}),
    ],
    ids=["unicode", "odd", "big", "proxies", "date", "python", "nan", "unspeakable", "keys"],
)
async def test_no_argument_stops_a_record(storage: Storage, given: Any, kept: Any) -> None:
    """Whatever a tool was called with, the record is written, as near to it as JSON comes."""
    start = a_start(arguments=given)
    await storage.journal.start(start)
    found = await storage.journal.find(start.call_id)
    assert found is not None
    assert found.arguments == kept


async def test_odd_names_and_zones(storage: Storage) -> None:
    """Characters that a database refuses are replaced; times of any zone come back in UTC."""
    when = datetime(2026, 5, 1, 14, 0, 0, 7, tzinfo=timezone(timedelta(hours=2)))
    start = a_start(tool="a\0b", ref="native:x/\ud800", started_at=when)
    await storage.journal.start(start)
    found = await storage.journal.find(start.call_id)
    assert found is not None
    assert (found.tool, found.ref) == ("a\ufffdb", "native:x/?")
    assert found.started_at == datetime(2026, 5, 1, 12, 0, 0, 7, tzinfo=UTC)
    assert found.started_at.tzinfo is UTC


async def test_one_bad_record_stops_no_other(storage: Storage) -> None:
    """A record that no column can hold fails alone: its caller is told, the others are written."""
    bad = a_start(user_id=2**80)
    good = [a_start() for _ in range(3)]
    noted = a_start(read_only=True)
    storage.journal.note_start(noted)
    storage.journal.note_start(a_start(user_id=-(2**80)))
    results = await asyncio.gather(
        *(storage.journal.start(start) for start in (good[0], bad, *good[1:])),
        return_exceptions=True,
    )
    assert [type(result) for result in results] == [type(None), SetupError, *[type(None)] * 2]
    await storage.journal.flush()
    found = await storage.journal.list(ALL)
    assert {row.call_id for row in found} == {start.call_id for start in (*good, noted)}


async def test_cancelled_start_is_recorded(storage: Storage) -> None:
    """A caller that gives up while it waits loses nothing that follows."""
    start = a_start()
    task = asyncio.create_task(storage.journal.start(start))
    await asyncio.sleep(0)
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    end = an_end(start, success=False, error={"code": "cancelled", "message": "x"})
    storage.journal.end(end)
    await storage.journal.flush()
    assert await storage.journal.find(start.call_id) == a_record(start, end)


async def fill(storage: Storage) -> list[CallStart]:
    """Calls of three users in two groups, two agents, two tools; every third one fails."""
    places = [(1, None), (1, 10), (2, 10), (2, 20), (3, 20), (3, None)]
    starts = [
        a_start(
            user_id=user_id,
            group_id=group_id,
            agent_id=7 + n % 2,
            tool="ab"[n // 3 % 2],
            started_at=NOON + timedelta(minutes=n),
        )
        for n, (user_id, group_id) in enumerate(places * 3)
    ]
    for n, start in enumerate(starts):
        storage.journal.note_start(start)
        if n % 4:
            storage.journal.end(an_end(start, success=bool(n % 3)))
    await storage.journal.flush()
    return starts


@pytest.mark.parametrize(
    "chosen",
    [
        CallFilter(),
        CallFilter(own_user_id=1),
        CallFilter(group_ids=frozenset({10})),
        CallFilter(own_user_id=3, group_ids=frozenset({10, 20})),
        CallFilter(own_user_id=1, group_ids=frozenset(range(20, 120))),
        CallFilter(every_group=True),
        CallFilter(own_user_id=1, every_group=True),
        CallFilter(everything=True),
        CallFilter(everything=True, agent_id=8, tool="a"),
        CallFilter(everything=True, user_id=2, success=True),
        CallFilter(everything=True, success=False),
        CallFilter(own_user_id=1, group_ids=frozenset({20}), user_id=3),
        CallFilter(own_user_id=1, user_id=2),
        CallFilter(group_ids=frozenset({10}), since=NOON + timedelta(minutes=8)),
        CallFilter(everything=True, tool="a' OR 1=1 --"),
    ],
    ids=str,
)
async def test_list_shows_what_the_filter_says(storage: Storage, chosen: CallFilter) -> None:
    """The reach bounds the list, the other fields narrow it; newest first, in pages of any size."""
    starts = await fill(storage)
    everything = await storage.journal.list(ALL, limit=100)
    assert [row.call_id for row in everything] == [start.call_id for start in reversed(starts)]

    def shown(row: Any) -> bool:
        within = (
            chosen.everything
            or row.user_id == chosen.own_user_id
            or row.group_id in chosen.group_ids
            or (chosen.every_group and row.group_id is not None)
        )
        return (
            within
            and chosen.agent_id in {None, row.agent_id}
            and chosen.tool in {None, row.tool}
            and chosen.user_id in {None, row.user_id}
            and (chosen.success is None or row.success is chosen.success)
            and (chosen.since is None or row.started_at >= chosen.since)
        )

    expected = [row for row in everything if shown(row)]
    assert await storage.journal.list(chosen, limit=100) == expected
    for limit in (1, 4):
        pages: list[Any] = []
        before = None
        while page := await storage.journal.list(chosen, before=before, limit=limit):
            assert len(page) <= limit
            pages += page
            before = page[-1].call_id
        assert pages == expected


async def test_records_need_nobody_and_outlive_agents(storage: Storage) -> None:
    """A record refers to ids only: nothing has to be there, and nothing takes it away."""
    start = a_start(user_id=901, group_id=902, agent_id=903, chat_id=904)
    await storage.journal.start(start)
    assert await storage.journal.find(start.call_id) == a_record(start)
    assert await storage.journal.find("call_none") is None


async def test_prune_deletes_what_is_older(storage: Storage) -> None:
    """Records that began before the moment go, also more than one transaction's worth."""
    for n in range(5100):
        storage.journal.note_start(a_start(started_at=NOON - timedelta(days=1, seconds=n)))
    kept = a_start()
    await storage.journal.start(kept)
    assert await storage.journal.prune(older_than=NOON) == 5100
    assert await storage.journal.prune(older_than=NOON) == 0
    assert await storage.journal.list(ALL) == [a_record(kept)]


async def test_call_ids_of_this_code_sort_by_time(storage: Storage) -> None:
    """What the generator makes in later milliseconds comes first in the list."""
    made = []
    for _ in range(5):
        made.append(a_start(call_id=new_call_id()))
        await storage.journal.start(made[-1])
        await asyncio.sleep(0.002)
    found = [row.call_id for row in await storage.journal.list(ALL)]
    assert found == [start.call_id for start in reversed(made)]
    assert all(later > earlier for later, earlier in pairwise(found))
