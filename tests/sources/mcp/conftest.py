"""This module opens a pool of servers for a test, with a caller. What happens by itself happens
soon; what a server has to do in time may take long, as processes do on a busy machine."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable, Coroutine, Mapping
from typing import Any

import pytest

from toolcrib.identity.caller import Caller
from toolcrib.net.client import GuardedClient
from toolcrib.net.guard import EgressPolicy
from toolcrib.net.streaming import StreamingClients
from toolcrib.sources.mcp.calling import call_tool
from toolcrib.sources.mcp.limits import Limits
from toolcrib.sources.mcp.policy import StdioPolicy
from toolcrib.sources.mcp.pool import Key, Pool
from toolcrib.sources.mcp.servers import HttpServer, Server
from toolcrib.sources.mcp.upstream import Upstream
from toolcrib.tools.call import Call, Log, Progress, no_log, no_progress
from toolcrib.tools.result import Output
from toolcrib.tools.spec import ToolSpec

SHORT = Limits(
    opening=60.0, listing=60.0, patience=60.0, retry=0.2, listed_again=0.0, listen_again=0.1
)


async def until(holds: Callable[[], object]) -> None:
    """Wait for what tells nobody of its change; the test's own time limit ends it."""
    while not holds():  # noqa: ASYNC110
        await asyncio.sleep(0.01)


class Bench:
    """A pool with its own loop's tasks; `changes` counts what it told of."""

    def __init__(
        self, limits: Limits, allow: tuple[str, ...], proxy: str = "", *, lean: bool = True
    ) -> None:
        self.changes = 0
        self.tasks: set[asyncio.Task[None]] = set()
        self.client = GuardedClient(EgressPolicy(["127.0.0.0/8"]))
        self.pool = Pool(
            clients=lambda: StreamingClients(self.client.guard, proxy=proxy),
            poster=self.client,
            policy=StdioPolicy(allow),
            spawn=self.spawn,
            changed=self.change,
            limits=limits,
            lean=lean,
        )

    def spawn(self, work: Coroutine[Any, Any, None]) -> asyncio.Task[None]:
        task = asyncio.create_task(work)
        self.tasks.add(task)
        task.add_done_callback(self.tasks.discard)
        return task

    def change(self) -> None:
        self.changes += 1

    async def upstream(
        self, server: Server | str, *, user: int = 1, ref: str = "mcp:1"
    ) -> Upstream:
        if isinstance(server, str):
            server = HttpServer(url=server)
        await self.pool.prepare()
        key = Key(ref=ref, user_id=user, group_id=None)
        return self.pool.upstream(key, server, version=1, label=ref)

    async def call(
        self,
        upstream: Upstream,
        name: str,
        arguments: Mapping[str, Any] | None = None,
        *,
        progress: Progress = no_progress,
        log: Log = no_log,
        deadline: float = 60.0,
    ) -> tuple[Output, Call]:
        call = Call(
            call_id="c",
            arguments=arguments or {},
            caller=Caller(user_id=1),
            deadline=deadline,
            progress=progress,
            log=log,
        )
        spec = upstream.state.tools.specs.get(name) or ToolSpec(name=name)
        return await call_tool(upstream, spec, call, longest=60.0), call

    async def close(self) -> None:
        await self.pool.close()
        await asyncio.gather(*self.tasks, return_exceptions=True)
        await self.client.close()


both_ways = pytest.mark.parametrize("ways", ["lean", "library"], indirect=True)
"""Calls over streamable HTTP once by the short way and once by the protocol library's."""


@pytest.fixture
def ways(request: pytest.FixtureRequest) -> str:
    return getattr(request, "param", "lean")


@pytest.fixture
async def make_bench(ways: str) -> AsyncIterator[Callable[..., Bench]]:
    """Benches that are closed in the end."""
    made: list[Bench] = []

    def make(
        limits: Limits = SHORT,
        allow: tuple[str, ...] = (),
        proxy: str = "",
        *,
        lean: bool = ways == "lean",
    ) -> Bench:
        made.append(Bench(limits, allow, proxy, lean=lean))
        return made[-1]

    yield make
    for bench in made:
        await bench.close()


@pytest.fixture
def bench(make_bench: Callable[..., Bench]) -> Bench:
    return make_bench()
