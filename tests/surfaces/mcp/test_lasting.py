"""A stream ends with the right to it, and one client that does not read holds up nobody."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, Awaitable, Callable
from contextlib import asynccontextmanager
from dataclasses import replace
from datetime import timedelta

import httpx2
import pytest

from tests.support.crib import Person
from tests.support.listening import listening
from tests.support.tenants import Tenants
from tests.surfaces.mcp.conftest import Door
from tests.surfaces.mcp.requests import BOTH, MODERN, message, meta, open_session
from toolcrib.errors import NotAuthenticated, NotFound, NotGranted, SourceUnreachable
from toolcrib.identity.authentication import now
from toolcrib.identity.roles import Role
from toolcrib.invocation.flight import Outcome
from toolcrib.resolution.toolset import Absence, Toolset
from toolcrib.surfaces.mcp.changes import Changes
from toolcrib.surfaces.mcp.gateway import Gateway
from toolcrib.surfaces.mcp.lasting import lasting
from toolcrib.surfaces.mcp.served import AgentTools, Back

LISTEN = "subscriptions/listen"
WANTED = {"notifications": {"toolsListChanged": True}}
Ending = Callable[[Door, Person, int], Awaitable[object]]


@pytest.fixture
async def quick(tenants: Tenants) -> AsyncGenerator[Door]:
    """A gateway that looks often."""
    app = tenants.crib.app
    app.state.gateway = Gateway(tenants.crib.platform, look_every=0.1)
    async with listening(app) as url:
        yield Door(crib=tenants.crib, tenants=tenants, url=url)


@asynccontextmanager
async def stream(http: httpx2.AsyncClient, url: str, era: str) -> AsyncGenerator[httpx2.Response]:
    """The stream on which a client hears of changes."""
    if era == "session":
        opened = http.stream("GET", url, headers=await open_session(http, url))
    else:
        told = {
            "Accept": BOTH,
            "MCP-Protocol-Version": MODERN,
            "Mcp-Method": "subscriptions/listen",
        }
        body = message("subscriptions/listen", {"_meta": meta(), **WANTED})
        opened = http.stream("POST", url, headers=told, json=body)
    async with opened as answer:
        assert answer.status_code == 200
        yield answer


async def end(answer: httpx2.Response) -> None:
    """Read until the server ends the stream, well or badly."""
    async with asyncio.timeout(60):
        try:
            async for _ in answer.aiter_bytes():
                pass
        except httpx2.RemoteProtocolError:
            return


async def revoke(door: Door, person: Person, agent: int) -> object:
    caller = await door.crib.platform.authenticator.caller_of(person.token)
    desk = door.crib.desk
    return await desk.tokens.revoke(
        door.crib.operator, user_id=person.id, token_id=str(caller.token_id)
    )


async def delete_agent(door: Door, person: Person, agent: int) -> object:
    return await door.crib.desk.agents.delete(door.crib.operator, agent)


async def leave_group(door: Door, person: Person, agent: int) -> object:
    return await door.crib.desk.users.update(door.crib.operator, person.id, group_ids=frozenset())


@pytest.mark.parametrize("era", ["session", "modern"])
@pytest.mark.parametrize("ending", [revoke, delete_agent, leave_group])
async def test_a_stream_ends_with_the_right_to_it(quick: Door, era: str, ending: Ending) -> None:
    """And only that one: another's stays open."""
    tenants = quick.tenants
    agent = (await tenants.agent(tenants.admin_a, tenants.a, "greet")).id
    leaving = await quick.crib.somebody(tenants.user_a.id)
    other = await tenants.agent(tenants.user_a, tenants.a, "greet")
    async with (
        quick.http(leaving) as http,
        quick.http(tenants.admin_a) as staying,
        stream(staying, quick.place(other.id), era) as theirs,
        stream(http, quick.place(agent), era) as answer,
    ):
        rest = asyncio.ensure_future(end(theirs))
        await ending(quick, leaving, agent)
        await end(answer)
        assert not rest.done()
        rest.cancel()


async def test_a_token_that_expires_ends_its_stream(quick: Door) -> None:
    tenants = quick.tenants
    agent = (await tenants.agent(tenants.admin_a, tenants.a, "greet")).id
    _, made = await quick.crib.desk.tokens.create(
        quick.crib.operator,
        user_id=tenants.user_a.id,
        name="short",
        expires_at=now() + timedelta(seconds=12),  # within which the stream begins
    )
    short = replace(tenants.user_a, token=made.text)
    async with quick.http(short) as http, stream(http, quick.place(agent), "modern") as answer:
        await end(answer)


@pytest.mark.parametrize(
    ("trouble", "ends"), [(NotAuthenticated("no"), True), (SourceUnreachable("away"), False)]
)
async def test_a_database_that_is_away_ends_nothing(trouble: Exception, *, ends: bool) -> None:
    arrived: asyncio.Queue[dict[str, str]] = asyncio.Queue()
    asked = 0

    async def still_in() -> None:
        nonlocal asked
        asked += 1
        if asked == 3:
            await arrived.put({"type": "http.request"})
        raise trouble

    received = await lasting(arrived.get, still_in, every=0.001)()
    assert received["type"] == ("http.disconnect" if ends else "http.request")


class Changing:
    """A list that is another one at every look; the first look at a broken one fails oddly."""

    label = "a list"

    def __init__(self, key: str, *, broken: bool = False) -> None:
        self.key = self.owner = self.who = key
        self._looks = 0
        self._broken = broken

    async def toolset(self) -> Toolset:
        self._looks += 1
        if self._broken and self._looks == 2:
            raise OSError("the disk is gone")
        absence = Absence(stage="source", ref=f"mcp:{self._looks}", reason="it is away")
        return Toolset(tools={}, absences=(absence,))

    async def now(self) -> Changing:
        return self

    async def call(self, name: str, arguments: object, back: Back) -> Outcome:
        raise AssertionError("nobody calls")


class Moving(Changing):
    """The list of a user whose rights change: what they might have stays the same."""

    def __init__(self, key: str, now: Callable[[], Changing]) -> None:
        super().__init__(key)
        self._now = now

    async def toolset(self) -> Toolset:
        return Toolset(tools={})

    async def now(self) -> Changing:
        return self._now()


async def test_one_list_holds_up_no_other() -> None:
    """Neither a client that does not read, nor a look that fails in a way nobody thought of."""
    changes = Changes(patience=60)
    told = asyncio.Event()
    asked: list[str] = []

    async def stuck() -> None:
        asked.append("stuck")
        await asyncio.Event().wait()

    async def gone() -> None:
        asked.append("gone")
        raise BrokenPipeError

    async def reads() -> None:
        asked.append("reads")
        told.set()

    first = await changes.watch(Changing("first"))
    first.tells.update((stuck, gone, reads))
    await changes.watch(Changing("broken", broken=True))
    (await changes.watch(Changing("reads"))).tells.add(reads)
    running = asyncio.ensure_future(changes.run())
    try:
        for looks in (1, 2, 3):
            await changes.on_signal("grants")
            async with asyncio.timeout(60):
                while asked.count("reads") < 2 * looks:
                    told.clear()
                    await told.wait()
    finally:
        running.cancel()
    assert (asked.count("stuck"), asked.count("gone")) == (1, 1)
    assert first.tells == {stuck, reads}


async def test_who_does_not_listen_yet_hears_of_later_changes() -> None:
    changes = Changes(patience=0.01)
    heard, given_up = asyncio.Event(), asyncio.Event()

    async def late() -> None:
        if given_up.is_set():
            return heard.set()
        try:
            await asyncio.Event().wait()
        finally:
            given_up.set()

    (await changes.watch(Changing("late"))).tells.add(late)
    running = asyncio.ensure_future(changes.run())
    try:
        async with asyncio.timeout(60):
            await changes.on_signal("grants")
            await given_up.wait()
            await changes.on_signal("grants")
            await heard.wait()
    finally:
        running.cancel()


async def test_news_are_of_what_a_user_may_have_by_now() -> None:
    """Not of what they might when they began to listen; and who is out hears nothing at all."""
    changes = Changes()
    told: list[str] = []
    heard = asyncio.Event()

    def hears(name: str) -> Callable[[], Awaitable[None]]:
        async def hear() -> None:
            told.append(name)
            heard.set()

        return hear

    def out() -> Changing:
        raise NotFound("There is no agent 1.")

    more = Changing("more")
    same = Moving("same", lambda: same)
    for served in (Moving("out", out), same, Moving("more", lambda: more)):
        (await changes.watch(served)).tells.add(hears(served.key))
    running = asyncio.ensure_future(changes.run())
    try:
        for count in (1, 2):
            await changes.on_signal("identity")
            async with asyncio.timeout(60):
                while told.count("more") < count:
                    heard.clear()
                    await heard.wait()
    finally:
        running.cancel()
    assert set(told) == {"more"}


async def test_a_list_that_is_watched_follows_its_user(tenants: Tenants) -> None:
    """Role, groups and entitlements are those of now; token, agent and group stay."""
    crib, user = tenants.crib, tenants.user_a
    agent = (await tenants.agent(tenants.admin_a, tenants.a, "greet")).id
    caller = replace(user.caller, group_id=tenants.a, token_id="t")
    served = AgentTools(platform=crib.platform, agent_id=agent, caller=caller)
    assert (await served.now()).key == served.key
    await crib.desk.users.update(
        crib.operator, user.id, role=Role.ADMIN, entitlements=frozenset({"chat"})
    )
    now = (await served.now()).caller
    assert (now.role, now.entitlements) == (Role.ADMIN, {"chat"})
    assert (now.group_id, now.token_id) == (tenants.a, "t")
    await crib.desk.users.update(crib.operator, user.id, group_ids=frozenset())
    with pytest.raises(NotGranted):
        await served.now()
    with pytest.raises(NotFound):
        await replace(served, caller=replace(caller, group_id=None)).now()
