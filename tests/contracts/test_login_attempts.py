"""The contract of AttemptStore: every step is had by one of many, and by nobody too late."""

from __future__ import annotations

import asyncio
from datetime import timedelta

from tests.contracts.people import People
from tests.contracts.test_logins import DRAFT, MINUTE, REF
from toolcrib.secrets.attempts import Attempt
from toolcrib.secrets.logins import LoginOwner
from toolcrib.storage import Storage
from toolcrib.storage.database import utc_now

MANY = 8


def attempt_of(people: People, digest: str, *, lives: timedelta = MINUTE) -> Attempt:
    return Attempt(
        digest=digest,
        user_id=people.ann.id,
        ref=REF,
        label="x",
        owner=LoginOwner(group_id=people.first.id),
        sealed=b"begun",
        expires_at=utc_now() + lives,
    )


async def answered(storage: Storage, attempt: Attempt) -> None:
    """As far as the server's answer."""
    store = storage.attempts
    await store.remember(attempt)
    assert await store.open(attempt.digest, state="state", browser="browser", sealed=b"opened")
    assert await store.claim("state") is not None
    until = utc_now() + MINUTE
    assert await store.answer(attempt.digest, sealed=b"answered", until=until)


async def test_an_attempt_goes_step_by_step(storage: Storage, people: People) -> None:
    """In this order only, and it comes back as it was written."""
    store, attempt = storage.attempts, attempt_of(people, "d")
    owner = attempt.owner
    assert await store.remember(attempt) is None
    assert await store.find("d") == attempt == await store.of(people.ann.id, REF, owner)
    assert await store.claim("state") is None
    assert not await store.answer("d", sealed=b"x", until=utc_now() + MINUTE)
    assert await store.try_once(people.ann.id, REF, owner, most=5) is None
    assert await store.admit("d", DRAFT) is None

    assert await store.open("d", state="state", browser="browser", sealed=b"opened")
    claimed = await store.claim("state")
    assert claimed is not None
    assert (claimed.stage, claimed.browser, claimed.sealed) == ("asking", "browser", b"opened")
    assert not await store.open("d", state="other", browser="other", sealed=b"other")
    assert await store.admit("d", DRAFT) is None
    assert await store.answer("d", sealed=b"answered", until=utc_now() + MINUTE)
    assert await storage.logins.find(REF, owner) is None, "nothing is a login yet"

    tried = await store.try_once(people.ann.id, REF, owner, most=5)
    assert tried is not None
    assert (tried.tries, tried.sealed) == (1, b"answered")
    login = await store.admit("d", DRAFT)
    assert login is not None
    assert await storage.logins.find(REF, owner) == login
    assert await store.find("d") is None


async def test_the_last_browser_counts(storage: Storage, people: People) -> None:
    """A state of an earlier opening is nobody's."""
    store = storage.attempts
    await store.remember(attempt_of(people, "d"))
    assert await store.open("d", state="one", browser="a", sealed=b"a")
    assert await store.open("d", state="two", browser="b", sealed=b"b")
    assert await store.claim("one") is None
    claimed = await store.claim("two")
    assert claimed is not None
    assert claimed.browser == "b"


async def test_one_of_many_has_a_step(storage: Storage, people: People) -> None:
    """A state is claimed, a login admitted and an attempt dropped once; no try is counted twice."""
    store, attempt = storage.attempts, attempt_of(people, "d")
    await store.remember(attempt)
    await store.open("d", state="state", browser="browser", sealed=b"opened")
    claimed = await asyncio.gather(*(store.claim("state") for _ in range(MANY)))
    assert sum(one is not None for one in claimed) == 1
    await store.answer("d", sealed=b"answered", until=utc_now() + MINUTE)
    tried = await asyncio.gather(
        *(store.try_once(people.ann.id, REF, attempt.owner, most=5) for _ in range(MANY))
    )
    assert sorted(one.tries for one in tried if one) == [1, 2, 3, 4, 5]
    admitted = await asyncio.gather(*(store.admit("d", DRAFT) for _ in range(MANY)))
    assert sum(one is not None for one in admitted) == 1
    await answered(storage, attempt)
    dropped = await asyncio.gather(*(store.drop("d") for _ in range(MANY)))
    assert [one.stage for one in dropped if one] == ["answered"]
    assert await store.admit("d", DRAFT) is None


async def test_whoever_begins_again_ends_the_older(storage: Storage, people: People) -> None:
    """And learns what it was, for what it held has to be revoked. Others' are left alone."""
    store, first = storage.attempts, attempt_of(people, "first")
    await answered(storage, first)
    others = Attempt(
        digest="others",
        user_id=people.bob.id,
        ref=REF,
        label="x",
        owner=first.owner,
        sealed=b"begun",
        expires_at=first.expires_at,
    )
    assert await store.remember(others) is None
    older = await store.remember(attempt_of(people, "second"))
    assert older is not None
    assert (older.digest, older.stage, older.sealed) == ("first", "answered", b"answered")
    assert await store.find("first") is None
    assert await store.find("others") == others
    again = await store.of(people.ann.id, REF, first.owner)
    assert again is not None
    assert (again.digest, again.stage, again.tries, again.browser) == ("second", "begun", 0, None)


async def test_what_is_too_old_is_not_there(storage: Storage, people: People) -> None:
    """At any step; the sweep ends it, once."""
    store = storage.attempts
    old = attempt_of(people, "old", lives=-MINUTE)
    await store.remember(old)
    assert await store.find("old") is None
    assert not await store.open("old", state="s", browser="b", sealed=b"x")
    await answered(storage, attempt_of(people, "late"))  # which ends the old one
    await store.remember(old)
    swept = await asyncio.gather(*(store.sweep() for _ in range(MANY)))
    assert [one.digest for some in swept for one in some] == ["old"]
    assert await store.sweep() == []
