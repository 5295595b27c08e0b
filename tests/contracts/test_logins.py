"""The contract of LoginStore, and that of renewing: once, whatever number of processes want it."""

from __future__ import annotations

import asyncio
import sys
from datetime import timedelta

import pytest

from tests.contracts.people import People
from tests.support.authorizing import Authorizing
from tests.support.renewing import AT_ONCE, REF
from toolcrib.errors import NotFound
from toolcrib.net.oauth_tokens import Client, Tokens
from toolcrib.secrets.logins import LoginDraft, LoginOwner
from toolcrib.secrets.sealing import Sealer, new_key
from toolcrib.sources.oauth.keeping import Kept, drafted
from toolcrib.storage import Storage
from toolcrib.storage.database import utc_now

DRAFT = LoginDraft(
    issuer="https://login.example.com",
    resource="https://tools.example.com/mcp",
    scopes=("read", "write"),
    status="connected",
    renewable=True,
    sealed=b"sealed",
    made="one",
)
MINUTE = timedelta(minutes=1)


async def test_a_login_comes_back_as_it_was_written(storage: Storage, people: People) -> None:
    """For its owner alone: another user, a group and the installation have their own."""
    owner = LoginOwner(user_id=people.ann.id)
    made = await storage.logins.put(REF, owner, DRAFT)
    assert await storage.logins.find(REF, owner) == made
    assert (made.scopes, made.sealed, made.version) == (("read", "write"), b"sealed", 1)
    group, nobody = LoginOwner(group_id=people.first.id), LoginOwner()
    assert await storage.logins.find(REF, group) is None
    await storage.logins.put(REF, group, DRAFT)
    await storage.logins.put(REF, nobody, DRAFT)
    found = await storage.logins.list([owner, group])
    assert [one.owner.key for one in found] == [group.key, owner.key]
    again = await storage.logins.put(REF, owner, DRAFT)
    assert again.version == 2
    assert await storage.logins.delete(REF, owner)
    assert not await storage.logins.delete(REF, owner)


async def test_an_owner_must_be_there(storage: Storage) -> None:
    """A login of nobody would never be found again."""
    with pytest.raises(NotFound):
        await storage.logins.put(REF, LoginOwner(user_id=99_999), DRAFT)


async def test_one_holds_the_lease(storage: Storage, people: People) -> None:
    """Others get it when it is given back or has run out; only its holder settles."""
    store, owner = storage.logins, LoginOwner(user_id=people.ann.id)
    login = await store.put(REF, owner, DRAFT)
    soon = utc_now() + MINUTE
    assert await store.lease(login, holder="a", until=soon)
    assert not await store.lease(login, holder="b", until=soon)
    assert not await store.settle(login, DRAFT, holder="b")
    await store.release(login, holder="b")
    assert not await store.lease(login, holder="b", until=soon), "only its holder gives it back"
    await store.release(login, holder="a")
    assert await store.lease(login, holder="b", until=utc_now() - MINUTE)
    assert await store.lease(login, holder="c", until=soon), "a lease that has run out is none"
    assert not await store.settle(login, DRAFT, holder="b")
    assert await store.settle(login, DRAFT, holder="c")
    assert not await store.lease(login, holder="c", until=soon), "it is another version now"


async def test_a_new_login_wins_over_a_renewal(storage: Storage, people: People) -> None:
    """Whoever was renewing the older one has lost the lease."""
    store, owner = storage.logins, LoginOwner(user_id=people.ann.id)
    login = await store.put(REF, owner, DRAFT)
    assert await store.lease(login, holder="a", until=utc_now() + MINUTE)
    newer = await store.put(REF, owner, DRAFT)
    assert not await store.settle(login, DRAFT, holder="a")
    assert await store.lease(newer, holder="b", until=utc_now() + MINUTE)


async def test_beginning_twice_keeps_the_first(storage: Storage, people: People) -> None:
    """Two processes see that there is no row: one row comes of it."""
    store, owner = storage.logins, LoginOwner(user_id=people.ann.id)
    login = await store.put(REF, owner, DRAFT)
    await store.begin(REF, owner, LoginDraft(**{**_fields(), "made": "two"}))
    assert await store.find(REF, owner) == login


def _fields() -> dict[str, object]:
    return {name: getattr(DRAFT, name) for name in DRAFT.__dataclass_fields__}


async def test_wishes_for_more_last_until_the_next_login(storage: Storage, people: People) -> None:
    """A renewal keeps them; what is said of an older login does not count for the newer."""
    store, owner = storage.logins, LoginOwner(user_id=people.ann.id)
    login = await store.put(REF, owner, DRAFT)
    await store.want(login, ["admin"])
    assert (await store.find(REF, owner) or login).more_scopes == ("admin",)
    assert await store.lease(login, holder="a", until=utc_now() + MINUTE)
    assert await store.settle(login, DRAFT, holder="a")
    assert (await store.find(REF, owner) or login).more_scopes == ("admin",)
    newer = await store.put(REF, owner, LoginDraft(**{**_fields(), "made": "two"}))
    assert newer.more_scopes == ()
    await store.want(login, ["admin"])
    assert await store.find(REF, owner) == newer


async def test_clients_by_server_and_address(storage: Storage) -> None:
    """One for each; forgetting one leaves the others."""
    store = storage.logins
    await store.keep_client("https://a.example", "https://us/cb", b"1")
    await store.keep_client("https://a.example", "https://us/cb", b"2")
    assert await store.client("https://a.example", "https://us/cb") == b"2"
    assert await store.client("https://a.example", "https://other/cb") is None
    await store.forget_client("https://a.example", "https://us/cb")
    assert await store.client("https://a.example", "https://us/cb") is None


async def test_ciphertexts_are_replaced_unless_changed(storage: Storage, people: People) -> None:
    """Rotation must not undo a login that was renewed meanwhile."""
    store, owner = storage.logins, LoginOwner(user_id=people.ann.id)
    await store.put(REF, owner, DRAFT)
    await store.keep_client("https://a.example", "https://us/cb", b"1")
    places = [place for place, _ in await store.sealed()]
    assert len(places) == 2
    for place, data in await store.sealed():
        await store.replace_sealed(place, before=data, after=b"new-" + data)
        await store.replace_sealed(place, before=data, after=b"lost")
    assert {data for _, data in await store.sealed()} == {b"new-sealed", b"new-1"}


async def test_two_processes_use_a_refresh_token_once(
    storage: Storage, storage_url: str, people: People
) -> None:
    """The server replaces refresh tokens and ends the login of whoever uses one twice.

    Every token is over at once, so that both processes renew all the time.
    """
    key, rounds = new_key(), 6
    async with Authorizing() as server:
        server.client("us")
        server.lives = 1
        resource = "https://tools.example.com/mcp"
        given = server.first("us", resource)
        kept = Kept(
            access=given["access_token"],
            refresh=given["refresh_token"],
            token_endpoint=f"{server.url}/token",
            client=Client(id="us"),
        )
        draft = drafted(
            kept,
            Tokens(access=kept.access, refresh=kept.refresh, lives=1),
            issuer=server.url,
            resource=resource,
            scopes=(),
            renewable=True,
            made="one",
            sealer=Sealer(lambda: [key]),
            now=utc_now(),
        )
        owner = LoginOwner(user_id=people.ann.id)
        await storage.logins.put(REF, owner, draft)
        arguments = (storage_url, key, str(people.ann.id), resource, str(rounds))
        children = [await _child(*arguments) for _ in range(2)]
        for child in children:
            assert child.stdout is not None
            assert await child.stdout.readline() == b"ready\n"
        for child in children:
            assert child.stdin is not None
            child.stdin.write(b"go\n")
        told = [await child.communicate() for child in children]
        assert [child.returncode for child in children] == [0, 0], told
        asked = server.count("refresh_token")
        assert server.punished == 0
        assert asked <= 2 * rounds, f"{AT_ONCE} at once made one request"
        assert asked >= rounds
        login = await storage.logins.find(REF, owner)
        assert login is not None
        assert (login.status, login.version) == ("connected", asked + 1)


async def _child(*arguments: str) -> asyncio.subprocess.Process:
    return await asyncio.create_subprocess_exec(
        sys.executable,
        "-m",
        "tests.support.renewing",
        *arguments,
        stdin=asyncio.subprocess.PIPE,
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.PIPE,
    )
