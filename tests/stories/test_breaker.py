"""An upstream that fails, and everybody who calls it: stopped, told so, and let through again."""

from __future__ import annotations

import asyncio
import socket
from collections.abc import AsyncGenerator
from datetime import UTC, datetime

import pytest

from tests.support.endpoints import ONE_TEXT, Endpoints, open_endpoints
from toolcrib.catalog.capabilities import CapabilityDraft
from toolcrib.grants.agents import AgentDraft
from toolcrib.identity.caller import Caller
from toolcrib.invocation.breaker import Breaker, Patience
from toolcrib.invocation.flight import Outcome, Request
from toolcrib.invocation.ids import new_call_id
from toolcrib.invocation.invoke import Invoker
from toolcrib.invocation.running import Runner
from toolcrib.invocation.steps import standard_steps
from toolcrib.settings import Settings
from toolcrib.testing.replies import answer, drop, hang
from toolcrib.testing.upstream import Reply


@pytest.fixture
async def endpoints(settings: Settings) -> AsyncGenerator[Endpoints]:
    async with open_endpoints(settings, call_timeout=60, breaker_failures=3) as opened:
        yield opened


def code_of(outcome: Outcome) -> str | None:
    return outcome.output.error and outcome.output.error.code


async def test_after_three_failures_nothing_is_sent(endpoints: Endpoints) -> None:
    """The fourth call ends at once, says why and when, and the journal has it."""
    endpoints.upstream.reply("/x", answer(503))
    await endpoints.api("t", "/x")
    first = [code_of(await endpoints.call("t")) for _ in range(3)]

    refused = await endpoints.call("t")

    assert first == ["upstream_error"] * 3
    assert len(endpoints.upstream.requests) == 3
    expected = (
        f"api:t/t of capability 1 at {endpoints.upstream.url('')} failed 3 times in a row; "
        "next try in 5 s."
    )
    assert (code_of(refused), refused.output.text) == ("unreachable", expected)
    record = await endpoints.recorded(refused.call_id)
    assert record.error == {"code": "unreachable", "message": expected}


async def test_tools_of_one_upstream_share_its_outage(settings: Settings) -> None:
    """An API capability and a package of a host that nobody can connect to."""
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))  # and never listens
        place = f"127.0.0.1:{taken.getsockname()[1]}"
        async with open_endpoints(settings, place, breaker_failures=3) as endpoints:
            await endpoints.api("t", f"http://{place}/x")
            await endpoints.package("p", f"http://{place}/y")
            first = [code_of(await endpoints.call("t")) for _ in range(3)]

            refused = await endpoints.call("p")

    assert first == ["unreachable"] * 3
    expected = f"The upstream http://{place} failed 3 times in a row; next try in 5 s."
    assert (code_of(refused), refused.output.text) == ("unreachable", expected)


@pytest.mark.parametrize("reply", [answer(500), drop()], ids=["500", "dropped"])
async def test_what_one_definition_asks_for_stops_no_other(
    endpoints: Endpoints, reply: Reply
) -> None:
    """A broken page of a host says nothing of its other pages."""
    endpoints.upstream.reply("/broken", reply)
    await endpoints.api("t", "/broken")
    await endpoints.package("p", "/sound")
    for _ in range(4):
        stopped = await endpoints.call("t")

    assert (code_of(stopped), code_of(await endpoints.call("p"))) == ("unreachable", None)


async def test_a_host_that_arguments_choose_has_no_circuit(endpoints: Endpoints) -> None:
    """What one model asked for is no reason to refuse what another asks."""
    host, _, port = endpoints.upstream.place.rpartition(":")
    endpoints.upstream.reply("/x", answer(500))
    await endpoints.package("t", f"http://{{q}}:{port}/x", schema=ONE_TEXT)
    for _ in range(5):
        assert code_of(await endpoints.call("t", q=host)) == "upstream_error"

    assert len(endpoints.upstream.requests) == 5


@pytest.mark.parametrize("status", [400, 401, 403, 404, 429])
async def test_an_answer_that_blames_the_caller_opens_nothing(
    endpoints: Endpoints, status: int
) -> None:
    """One tenant's bad secret (401) or bad arguments (400) must not stop the others."""
    endpoints.upstream.reply("/x", answer(status))
    await endpoints.api("t", "/x")
    for _ in range(5):
        await endpoints.call("t")

    assert len(endpoints.upstream.requests) == 5


async def test_bad_arguments_and_refused_addresses_count_for_nothing(
    endpoints: Endpoints,
) -> None:
    """What never reached the upstream says nothing about it."""
    await endpoints.package("t", "/x/{q}", schema=ONE_TEXT)
    for _ in range(5):
        assert code_of(await endpoints.call("t", q=["not", "a", "text"])) == "invalid_arguments"

    assert code_of(await endpoints.call("t", q="fine")) is None


async def test_a_caller_in_a_hurry_opens_nothing(endpoints: Endpoints) -> None:
    """A deadline that one caller made short is no fault of the upstream."""
    endpoints.upstream.reply("/x", hang())
    await endpoints.api("t", "/x")
    for _ in range(4):
        assert code_of(await endpoints.call("t", timeout=0.05)) == "timeout"
    endpoints.upstream.reply("/x", answer())

    assert code_of(await endpoints.call("t")) is None


async def test_a_host_that_settings_decide_is_everybodys_own(endpoints: Endpoints) -> None:
    """A base address that is down for one user is not down for another."""
    desk, operator = endpoints.crib.desk, endpoints.crib.operator
    group = await desk.groups.create(operator, name="g")
    other = await endpoints.crib.person("other", "user", group.id)
    down, up = endpoints.upstream.url("/down"), endpoints.upstream.url("/up")
    endpoints.upstream.reply("/down/x", answer(500))
    await desk.settings.put(endpoints.root.caller, "BASE", down)
    await desk.settings.put(other.caller, "BASE", up)
    await endpoints.api("t", "${BASE}/x")
    draft = AgentDraft(name="shared", creator_id=1, group_id=group.id)
    shared = await desk.agents.create(operator, draft, capabilities=endpoints.held)
    for _ in range(4):
        mine = await endpoints.call("t")

    theirs = await desk.tools.call(other.caller, shared.id, "t", {})

    assert (code_of(mine), code_of(theirs)) == ("unreachable", None)


async def test_a_private_definition_stops_nobody_else(endpoints: Endpoints) -> None:
    """Its author asks for whatever fails; the tools of others at the same host go on."""
    desk, operator = endpoints.crib.desk, endpoints.crib.operator
    group = await desk.groups.create(operator, name="g")
    author = await endpoints.crib.person("author", "user", group.id)
    endpoints.upstream.reply("/down", answer(500))
    draft = CapabilityDraft(
        name="p",
        code="p",
        type="api",
        access_type="private",
        owner_id=author.id,
        options={"name": "p", "url": endpoints.upstream.url("/down")},
    )
    row = await desk.capabilities.create(author.caller, draft)
    own = AgentDraft(name="own", creator_id=author.id)
    agent = await desk.agents.create(author.caller, own, capabilities=[row.id])
    await endpoints.api("t", "/up")
    for _ in range(4):
        theirs = await desk.tools.call(author.caller, agent.id, "p", {})

    assert (code_of(theirs), code_of(await endpoints.call("t"))) == ("unreachable", None)


async def test_it_recovers_by_itself(endpoints: Endpoints) -> None:
    """After the pause one call finds the upstream well, and all others follow."""
    now = [1000.0]
    breaker = Breaker(Patience(failures=2, pause=5), clock=lambda: now[0])
    steps = standard_steps(
        journal=None, runner=Runner(), call_timeout=60, result_limit=2000, breaker=breaker
    )
    invoker = Invoker(steps, clock=lambda: datetime.now(UTC), new_id=new_call_id)
    await endpoints.api("t", "/x")
    toolset = await endpoints.crib.platform.resolve(endpoints.agent, endpoints.root.caller)
    request = Request(tool=toolset.tools["t"], caller=Caller(user_id=1), arguments={})

    async def call() -> str | None:
        return code_of(await invoker.invoke(request))

    endpoints.upstream.reply("/x", drop())
    broken = [await call() for _ in range(3)]
    endpoints.upstream.reply("/x", answer())
    waiting = await call()
    now[0] += 5
    again = [await call() for _ in range(2)]

    assert broken == ["upstream_error", "upstream_error", "unreachable"]
    assert (waiting, again) == ("unreachable", [None, None])


async def test_of_many_calls_at_once_one_tries(endpoints: Endpoints) -> None:
    """While the upstream is being tried the others are told so, and it gets one request."""
    now = [1000.0]
    breaker = Breaker(Patience(failures=1, pause=5), clock=lambda: now[0])
    steps = standard_steps(
        journal=None, runner=Runner(), call_timeout=60, result_limit=2000, breaker=breaker
    )
    invoker = Invoker(steps, clock=lambda: datetime.now(UTC), new_id=new_call_id)
    await endpoints.api("t", "/x")
    toolset = await endpoints.crib.platform.resolve(endpoints.agent, endpoints.root.caller)
    request = Request(tool=toolset.tools["t"], caller=Caller(user_id=1), arguments={})
    endpoints.upstream.reply("/x", answer(500))
    await invoker.invoke(request)
    endpoints.upstream.reply("/x", answer())
    now[0] += 5

    outcomes = await asyncio.gather(*(invoker.invoke(request) for _ in range(10)))

    assert sorted(str(code_of(outcome)) for outcome in outcomes) == ["None", *["unreachable"] * 9]
    assert len(endpoints.upstream.requests) == 2
