"""The contract of RepeatStore: one of all who take a key gets it, its answer is for the rest."""

from __future__ import annotations

import asyncio
from datetime import UTC, datetime, timedelta
from typing import Any

from tests.contracts.people import People
from toolcrib.storage import Storage, open_storage

DAY, MINUTE = timedelta(hours=24), timedelta(minutes=1)


async def begun(storage: Storage, people: People, holder: str = "a", **more: Any) -> Any:
    now = datetime.now(UTC)
    ends = {"leased_until": now + MINUTE, "expires_at": now + DAY}
    values: dict[str, Any] = {"sealed": b"asked", **ends, **more}
    return await storage.repeats.begin("d1", user_id=people.ann.id, holder=holder, **values)


async def test_the_first_has_the_key_and_the_rest_its_answer(
    storage: Storage, people: People
) -> None:
    """What is kept comes back exact."""
    assert await begun(storage, people) is None
    running = await begun(storage, people, "b", sealed=b"other")
    assert (running.sealed, running.done) == (b"asked", False)
    assert MINUTE > running.leased_until - datetime.now(UTC) > -MINUTE

    assert await storage.repeats.finish("d1", holder="a", sealed=b"answer\0\xff") is True
    done = await begun(storage, people, "b")
    assert (done.sealed, done.done) == (b"answer\0\xff", True)


async def test_only_its_holder_settles_a_key(storage: Storage, people: People) -> None:
    """Somebody else neither answers for it nor lets it go."""
    await begun(storage, people)
    assert await storage.repeats.finish("d1", holder="b", sealed=b"x") is False
    await storage.repeats.forget("d1", holder="b")
    assert (await begun(storage, people, "c")).sealed == b"asked"

    await storage.repeats.forget("d1", holder="a")
    assert await begun(storage, people, "c") is None


async def test_a_key_ends(storage: Storage, people: People) -> None:
    """Then it is as if nobody had had it; a sweep deletes what nobody asks for again."""
    past = datetime.now(UTC) - MINUTE
    await begun(storage, people, expires_at=past)
    assert await begun(storage, people, "b", expires_at=past) is None
    assert await storage.repeats.finish("d1", holder="a", sealed=b"late") is False

    assert await storage.repeats.sweep() == 1
    await begun(storage, people)
    assert await storage.repeats.sweep() == 0


async def test_two_processes_that_take_one_key(
    storage: Storage, storage_url: str, people: People
) -> None:
    """However they come, one runs."""
    other = await open_storage(storage_url)
    try:
        took = await asyncio.gather(
            *(begun((storage, other)[n % 2], people, f"holder {n}") for n in range(16))
        )
        assert [one for one in took if one is None] == [None]
    finally:
        await other.close()
