"""Finding tools by words: among 10,000 and 100,000, and through a platform with one MCP server.

    python benchmarks/search.py [--queries 200] [--rounds 5] [--json]

Texts are made of common verbs and nouns and of sparse words; queries are of one common word, of
several, of a sparse one, and of words that only begin alike. CPU is that of the whole process, the
threads of an index included. Memory is what the process grew by while the index was made.
"""

from __future__ import annotations

import argparse
import asyncio
import os
import random
import tempfile
import time
from collections.abc import Awaitable, Callable
from pathlib import Path
from statistics import median, quantiles
from typing import Any

import uvloop
from _figures import Figures
from _many_upstream import NOUNS, VERBS, rare, texts
from _processes import served
from http_tools import crib

from toolcrib.catalog.capabilities import CapabilityDraft
from toolcrib.desk.operator import operator
from toolcrib.grants.agents import AgentDraft
from toolcrib.resolution.ranking import Searchable
from toolcrib.storage.tool_ranking import FtsRanking

QUERY_MS = 20
PAGE = os.sysconf("SC_PAGE_SIZE")
HELD = 10_000


def queries(count: int) -> list[str]:
    """In turn: a noun; a verb and a noun; a sentence; a sparse word; beginnings of words."""
    dice = random.Random(11)  # noqa: S311 - the same queries each time
    made: list[str] = []
    for number in range(count):
        verb, noun = dice.choice(VERBS), dice.choice(NOUNS)
        made.append(
            (
                noun,
                f"{verb} {noun}",
                f"I want to {verb} the {noun} of a customer between two dates",
                rare(dice),
                f"{noun[:4]} {rare(dice)[:4]}",
            )[number % 5]
        )
    return made


async def spent(work: Awaitable[Any]) -> tuple[float, Any]:
    """Milliseconds of CPU, and what it gave."""
    began = time.process_time()
    found = await work
    return (time.process_time() - began) * 1000, found


def resident() -> float:
    """Megabytes."""
    return int(Path("/proc/self/statm").read_text().split()[1]) * PAGE / 1e6


def add_queries(figures: Figures, what: str, times: list[float], *, most: float) -> None:
    figures.add(f"{what}: query p50", median(times), "ms CPU", most=most)
    figures.add(f"{what}: query p99", quantiles(times, n=100)[-1], "ms CPU", most=most)


async def ranking(figures: Figures, count: int, asked: list[str]) -> None:
    tools = [
        Searchable(one.name, "", one.description, "id Its number in the ledger. limit")
        for one in texts(count)
    ]
    before = resident()
    cpu, index = await spent(FtsRanking().of(tools))
    what = f"ranking of {count:,} tools"
    figures.add(f"{what}: build", cpu, "ms CPU")
    figures.add(f"{what}: memory", resident() - before, "MB")
    times = [(await spent(index.find(query, limit=11)))[0] for query in asked]
    add_queries(figures, what, times, most=QUERY_MS)


async def platform(figures: Figures, options: argparse.Namespace, asked: list[str]) -> None:
    with (
        tempfile.TemporaryDirectory(prefix="toolcrib-bench-") as folder,
        served("_many_upstream:app", env={"TOOLS": str(HELD)}) as upstream,
    ):
        async with crib(Path(folder), upstream.place) as bench:
            await searched(figures, bench, f"http://{upstream.place}/mcp", options, asked)


async def searched(
    figures: Figures, bench: Any, url: str, options: argparse.Namespace, asked: list[str]
) -> None:
    """An agent that holds all tools of one server, offered through search."""
    desk, crib_ = bench.platform.desk, bench.platform
    server = {"server_label": "many", "server_url": url, "require_approval": "never"}
    draft = CapabilityDraft(
        name="many", code="many", type="mcp", options=server, access_type="system"
    )
    row = await desk.capabilities.create(operator(), draft)
    agent = await desk.agents.create(
        operator(),
        AgentDraft(name="many", creator_id=1, group_id=bench.caller.group_id, tool_search="on"),
        capabilities=[row.id],
    )

    async def listed() -> int:
        return len((await crib_.resolve(agent.id, bench.caller)).tools)

    async def search(query: str) -> Any:
        outcome = await crib_.invoke(agent.id, "search_tools", {"query": query}, bench.caller)
        assert outcome.success, outcome
        return outcome

    what = f"agent with {HELD:,} tools of one server"
    first, count = await until_known(listed)
    assert count == HELD, count
    figures.add(f"{what}: first list", first, "ms CPU", note="reads, pins and names them")
    again: list[float] = []
    for _ in range(options.rounds):
        await crib_.storage.signals.bump("catalog")
        again.append((await spent(listed()))[0])
    figures.add(f"{what}: list after a change", median(again), "ms CPU")
    figures.add(f"{what}: list", median([(await spent(listed()))[0] for _ in asked]), "ms CPU")
    cpu, _ = await spent(search("first"))
    figures.add(f"{what}: first search", cpu, "ms CPU", note="makes the index")
    times = [(await spent(search(query)))[0] for query in asked]
    add_queries(figures, f"{what}: search_tools", times, most=QUERY_MS)


async def until_known(listed: Callable[[], Awaitable[int]]) -> tuple[float, int]:
    """All CPU until a list has every tool: the first answers may come before the server's."""
    began = time.process_time()
    while (count := await listed()) < HELD:  # noqa: ASYNC110 - nothing tells when
        await asyncio.sleep(0.05)
    return (time.process_time() - began) * 1000, count


async def run(options: argparse.Namespace) -> Figures:
    figures = Figures()
    asked = queries(options.queries)
    await platform(figures, options, asked)
    for count in (HELD, 10 * HELD):
        await ranking(figures, count, asked)
    return figures


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else "")
    parser.add_argument("--queries", type=int, default=200)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--json", action="store_true")
    options = parser.parse_args()
    with asyncio.Runner(loop_factory=uvloop.new_event_loop) as runner:
        figures = runner.run(run(options))
    figures.show(as_json=options.json)


if __name__ == "__main__":
    main()
