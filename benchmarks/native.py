"""Calls and lookups of native tools: through Toolcrib, as LangChain makes them, and bare.

    python benchmarks/native.py [--calls 3000] [--rounds 5] [--json]

One tool, written as the plugin guide says, called three ways in turn in one process: its own
coroutine, LangChain's `ainvoke`, and `platform.invoke` with grants, argument check and a journal
in SQLite. CPU is that of the whole process, the journal's thread included; the median round
counts. Then: the CPU of resolving 50 capabilities for a user where 10,000 tools are registered.
"""

from __future__ import annotations

import argparse
import asyncio
import tempfile
import time
from collections.abc import AsyncGenerator, Awaitable, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from statistics import median
from typing import Any

import uvloop
from _figures import Figures
from langchain_core.runnables import RunnableConfig
from langchain_core.tools import StructuredTool, tool
from pydantic import BaseModel, Field

from toolcrib import annotations
from toolcrib.testing import Workbench, workbench

CODES, TOOLS_PER_CODE, HELD = 2_000, 5, 50
ARGUMENTS = {"query": "boats on the river", "limit": 5}
Call = Callable[[], Awaitable[Any]]


class Search(BaseModel):
    query: str = Field(description="Words to look for.")
    limit: int = Field(default=20, description="At most so many.")


async def _search(query: str, limit: int, config: RunnableConfig) -> str:
    """Search matters by their words."""
    user = config["configurable"]["logged_user_id"]
    return f"{limit} matters about {query} for {user}"


SEARCH = tool("search", args_schema=Search)(_search)
LOOK = annotations(read_only=True)(tool("look", args_schema=Search)(_search))


def register(registry_fn: Callable[..., None]) -> None:
    registry_fn("matters", [SEARCH, LOOK], name="Matters")


def register_many(registry_fn: Callable[..., None]) -> None:
    """10,000 tools under 2,000 codes."""
    for code in range(CODES):
        tools = [
            StructuredTool(
                name=f"tool_{code}_{n}",
                description="One of many.",
                args_schema=Search,
                coroutine=_search,
            )
            for n in range(TOOLS_PER_CODE)
        ]
        registry_fn(f"code_{code}", tools)


@dataclass(frozen=True)
class Cost:
    """Of one call, in microseconds."""

    cpu: float
    wall: float


async def measure(call: Call, *, calls: int, at_once: int, after: Call) -> Cost:
    async def worker(share: int) -> None:
        for _ in range(share):
            await call()

    cpu, wall = time.process_time(), time.perf_counter()
    await asyncio.gather(*(worker(calls // at_once) for _ in range(at_once)))
    wall = time.perf_counter() - wall
    await after()  # what was left to write counts as work, not as waiting
    cpu = time.process_time() - cpu
    done = calls // at_once * at_once
    return Cost(cpu=cpu / done * 1e6, wall=wall / done * 1e6)


def ways(bench: Workbench, name: str, native: StructuredTool) -> dict[str, Call]:
    """The same call in three ways."""
    config: Any = {"configurable": {"logged_user_id": bench.user.id, "group_id": bench.group.id}}
    coroutine: Any = native.coroutine
    invoke, agent, caller = bench.platform.invoke, bench.agent.id, bench.caller

    async def through_the_platform() -> None:
        outcome = await invoke(agent, name, ARGUMENTS, caller)
        assert outcome.success

    return {
        "bare": lambda: coroutine(**ARGUMENTS, config=config),
        "langchain": lambda: native.ainvoke(ARGUMENTS, config),
        "toolcrib": through_the_platform,
    }


async def calls(figures: Figures, options: argparse.Namespace, folder: Path) -> None:
    async with workbench(register, data_dir=folder) as bench:
        for name, native, at_once in (("look", LOOK, 1), ("search", SEARCH, 32)):
            found: dict[str, list[Cost]] = {}
            tried = ways(bench, name, native)
            journal = bench.platform.storage.journal
            for round_ in range(options.rounds + 1):
                for way, call in tried.items():
                    cost = await measure(
                        call, calls=options.calls, at_once=at_once, after=journal.flush
                    )
                    if round_:  # the first one warms up
                        found.setdefault(way, []).append(cost)
            report(figures, f"{native.name} c{at_once}", found)


def report(figures: Figures, what: str, found: dict[str, list[Cost]]) -> None:
    cpu = {way: median(cost.cpu for cost in costs) for way, costs in found.items()}
    wall = {way: median(cost.wall for cost in costs) for way, costs in found.items()}
    for way in found:
        note = f"wall {wall[way]:.0f} µs, {1e6 / wall[way]:.0f}/s"
        figures.add(f"{what}: {way}", cpu[way] / 1000, "ms CPU", note=note)
    added = (cpu["toolcrib"] - cpu["bare"]) / 1000
    figures.add(f"{what}: added by Toolcrib", added, "ms CPU", most=0.10)
    dearer = cpu["toolcrib"] / cpu["langchain"]
    figures.add(f"{what}: CPU against LangChain", dearer, "x", most=1)
    figures.add(
        f"{what}: wall against LangChain", wall["toolcrib"] / wall["langchain"], "x", most=1
    )


@asynccontextmanager
async def many(folder: Path) -> AsyncGenerator[Workbench]:
    """A workbench whose agent holds 50 of 2,000 capabilities."""
    async with workbench(register_many, data_dir=folder) as bench:
        held = bench.agent.capability_ids[:: CODES // HELD]
        await bench.platform.storage.agents.update(bench.agent.id, {"capability_ids": held})
        await bench.platform.storage.signals.bump("grants")
        yield bench


async def lookups(figures: Figures, options: argparse.Namespace, folder: Path) -> None:
    async with many(folder) as bench:

        async def resolve() -> float:
            began = time.process_time()
            toolset = await bench.platform.resolve(bench.agent.id, bench.caller)
            took = (time.process_time() - began) * 1000
            assert len(toolset.tools) == HELD * TOOLS_PER_CODE
            return took

        first = await resolve()
        warm = median([await resolve() for _ in range(200)])
        again: list[float] = []
        for _ in range(options.rounds):
            await bench.platform.storage.signals.bump("catalog")
            again.append(await resolve())
    what = f"resolve {HELD} of {CODES} capabilities, {CODES * TOOLS_PER_CODE} tools"
    figures.add(f"{what}: first in the process", first, "ms CPU", note="adapts 250 tools")
    figures.add(f"{what}: cold, after a change", median(again), "ms CPU", most=20)
    figures.add(f"{what}: warm", warm, "ms CPU", most=0.2)


async def run(options: argparse.Namespace) -> Figures:
    figures = Figures()
    with tempfile.TemporaryDirectory(prefix="toolcrib-bench-") as folder:
        await calls(figures, options, Path(folder) / "calls")
        await lookups(figures, options, Path(folder) / "lookups")
    return figures


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else "")
    parser.add_argument("--calls", type=int, default=3000, help="calls of one round")
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--json", action="store_true")
    options = parser.parse_args()
    with asyncio.Runner(loop_factory=uvloop.new_event_loop) as runner:
        figures = runner.run(run(options))
    figures.show(as_json=options.json)


if __name__ == "__main__":
    main()
