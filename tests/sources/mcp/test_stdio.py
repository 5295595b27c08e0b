"""Servers that are started: what may be, what they may do, and that nothing of them stays."""

from __future__ import annotations

import asyncio
import json
import os
import sys
import time
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from tests.sources.mcp.conftest import SHORT, Bench, until
from toolcrib.errors import EgressBlocked, SourceError, SourceTimeout
from toolcrib.sources.mcp.policy import StdioPolicy
from toolcrib.sources.mcp.process import ServerProcess
from toolcrib.sources.mcp.servers import StdioServer

ALLOW = (Path(sys.executable).name,)
SERVER = Path(__file__).parents[2] / "support" / "mcp_stdio.py"


def started(behaviour: Mapping[str, Any] | None = None, **env: str) -> StdioServer:
    given = json.dumps(behaviour or {})
    return StdioServer(command=sys.executable, args=(str(SERVER), given), env=env)


def mine(mark: str) -> set[int]:
    """Processes that a test started with this mark in their environment, those that were handed to
    somebody else included."""
    found: set[int] = set()
    for entry in Path("/proc").iterdir():
        if entry.name.isdecimal():
            try:
                environment = (entry / "environ").read_bytes()
                state = (entry / "stat").read_text().rpartition(")")[2].split()[0]
            except OSError:
                continue
            if f"MARK={mark}".encode() in environment.split(b"\0") and state != "Z":
                found.add(int(entry.name))
    return found


def files() -> int:
    return sum(1 for _ in Path("/proc/self/fd").iterdir())


async def test_lists_and_calls(make_bench: Callable[..., Bench]):
    """An allowed command is started, listed and called, with its declared environment only."""
    bench = make_bench(allow=ALLOW)
    upstream = await bench.upstream(started(DECLARED="yes"))
    state = await upstream.look()
    assert (state.status, state.error) == ("connected", None)
    output, _ = await bench.call(upstream, "environment")
    names = set(json.loads(output.text))
    assert "DECLARED" in names
    assert not {name for name in names if name.startswith(("PIP_", "PYTEST", "TOOLCRIB"))}


@pytest.mark.parametrize("allow", [(), ("node",), ("/usr/bin/other",)])
async def test_other_commands_are_not_started(
    make_bench: Callable[..., Bench], allow: tuple[str, ...]
):
    """Nothing is started that the operator does not list; an empty list means nothing at all."""
    upstream = await make_bench(allow=allow).upstream(started(MARK="refused"))
    state = await upstream.look()
    assert state.status == "failed"
    assert state.error is not None
    assert state.error[0] == "blocked"
    assert "TOOLCRIB_STDIO_ALLOW" in state.error[1]
    assert mine("refused") == set()


def test_policy_takes_names_and_paths():
    """An entry is a command's name, or exactly one path."""
    path = os.path.realpath(sys.executable)
    assert StdioPolicy([path]).resolved(sys.executable)
    assert StdioPolicy([Path(sys.executable).name]).resolved(sys.executable)
    with pytest.raises(EgressBlocked):
        StdioPolicy([f"{path}-other"]).resolved(sys.executable)


@pytest.mark.parametrize(
    "behaviour",
    [
        {},
        {"child": True},
        {"child": True, "ignore_term": True, "ignore_eof": True},
        {"never_initialize": True, "child": True},
        {"exit_before": 3, "child": True},
        {"exit_on_call": True, "child": True},
        {"flood": "stdout"},
        {"flood": "stderr"},
        {"long_line": True},
    ],
    ids=str,
)
async def test_nothing_stays(make_bench: Callable[..., Bench], behaviour: Mapping[str, Any]):
    """However a server ends, its whole group is gone a few seconds later."""
    mark = f"stay-{os.getpid()}-{abs(hash(str(behaviour)))}"
    bench = make_bench(replace(SHORT, opening=1.5), allow=ALLOW)
    upstream = await bench.upstream(started(behaviour, MARK=mark))
    await upstream.look()
    with suppress(SourceError):
        await bench.call(upstream, "exit", deadline=2.0)
    await bench.close()
    await until(lambda: not mine(mark))


async def test_last_words_are_the_reason(make_bench: Callable[..., Bench]):
    """What a server said on stderr before it ended is what people read."""
    bench = make_bench(allow=ALLOW)
    upstream = await bench.upstream(started({"exit_before": 3, "say": "missing API key"}))
    state = await upstream.look()
    assert state.error is not None
    assert "ended with code 3, saying: missing API key" in state.error[1]


async def test_noise_on_stdout_is_passed_over(make_bench: Callable[..., Bench]):
    """A server that prints beside the protocol is understood all the same."""
    bench = make_bench(allow=ALLOW)
    upstream = await bench.upstream(started({"noise": True}))
    await upstream.look()
    assert (await bench.call(upstream, "echo", {"s": "a"}))[0].text == "a"


async def test_death_during_a_call_ends_it_at_once(make_bench: Callable[..., Bench]):
    """A child that holds the pipes does not keep a dead server's call waiting."""
    bench = make_bench(allow=ALLOW)
    upstream = await bench.upstream(started({"exit_on_call": True, "child": True}))
    await upstream.look()
    with pytest.raises(SourceError) as caught:
        await bench.call(upstream, "exit")
    assert caught.value.sent is True
    assert not isinstance(caught.value, SourceTimeout)


async def test_progress_and_cancellation_reach_the_server(
    make_bench: Callable[..., Bench], tmp_path: Path
):
    """Progress comes through, and a cancelled call is cancelled at the server too."""
    log = tmp_path / "log"
    bench = make_bench(allow=ALLOW)
    upstream = await bench.upstream(started(LOG=str(log)))
    await upstream.look()
    seen: list[float] = []

    async def progress(done: float, total: float | None, message: str | None) -> None:
        seen.append(done)

    call = asyncio.create_task(bench.call(upstream, "slow", progress=progress))
    await until(lambda: seen)
    call.cancel()
    with pytest.raises(asyncio.CancelledError):
        await call
    await until(lambda: "notifications/cancelled" in log.read_text())
    assert (await bench.call(upstream, "echo", {"s": "b"}))[0].text == "b"


async def test_a_hundred_rounds_leave_nothing(make_bench: Callable[..., Bench]):
    """Neither processes nor open files grow with connections made, failed and closed."""
    rounds = int(os.environ.get("TEST_MCP_ROUNDS", "100"))
    mark = f"rounds-{os.getpid()}"
    bench = make_bench(allow=ALLOW)
    before: int | None = None
    for number in range(rounds):
        kind = ({}, {"exit_before": 1}, {"exit_on_call": True})[number % 3]
        upstream = await bench.upstream(started(kind, MARK=mark), ref=f"mcp:{number}")
        await upstream.look()
        await bench.pool.forget(f"mcp:{number}")
        if number == 2:
            before = files()
    await bench.close()
    await until(lambda: not mine(mark))
    assert before is not None
    await until(lambda: files() <= before)


async def test_a_start_that_is_broken_off_leaves_nothing(make_bench: Callable[..., Bench]):
    """Whenever it is: before the process runs, while it starts, or while it says nothing."""
    mark = f"broken-off-{os.getpid()}"
    bench = make_bench(replace(SHORT, opening=100.0, closing=100.0), allow=ALLOW)
    server = started({"never_initialize": True, "child": True}, MARK=mark)

    async def broken_off(ref: str, after: float) -> None:
        await (await bench.upstream(server, ref=ref)).look(after)
        await bench.pool.forget(ref)

    await broken_off("mcp:0", 0.0)
    before = files()
    await asyncio.gather(*(broken_off(f"mcp:{n}", 0.02 * n) for n in range(1, 16)))
    await bench.close()
    await until(lambda: not mine(mark))
    await until(lambda: files() <= before)


async def test_a_start_that_is_cancelled_ends_the_whole_group():
    """At whichever step: what the process started in the meantime ends with it."""
    mark = f"cancelled-{os.getpid()}"
    starts: list[asyncio.Task[ServerProcess]] = []
    for steps in range(10):
        work = ServerProcess.start("/bin/sh", ["-c", "sleep 600 & wait"], {"MARK": mark})
        starts.append(asyncio.create_task(work))
        for _ in range(steps):
            await asyncio.sleep(0)
        time.sleep(0.05)  # noqa: ASYNC251 - the loop stands still, and the process runs on
        starts[-1].cancel()
    for start in await asyncio.gather(*starts, return_exceptions=True):
        if isinstance(start, ServerProcess):
            await start.end()
    await until(lambda: not mine(mark))
