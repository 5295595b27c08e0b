"""Calls of REST endpoints as tools: through Toolcrib, bare, and as LangChain and UTCP make them.

    python benchmarks/http_tools.py [--calls 640] [--rounds 9] [--no-peers] [--json]

One upstream on loopback in a process of its own. In one process, in turns: an API capability and a
package through `platform.invoke` (grants, argument check, journal in SQLite, guard, a secret in a
header that is masked in the answer), the same capability as a LangChain tool, aiohttp and httpx
bare, and a LangChain StructuredTool over httpx. python-utcp runs in a virtual environment of its
own, kept in .cache/bench; where it cannot be installed the table says so. Then our REST endpoint
against a bare ASGI forwarder, and the same call with 100 and with 100,000 stored capabilities.

A ratio is the median over the rounds, each of which asks everybody in turn.
"""

from __future__ import annotations

import argparse
import asyncio
import contextlib
import json
import subprocess
import sys
import tempfile
import time
from collections.abc import AsyncGenerator, Awaitable, Callable, Generator, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path
from statistics import median
from typing import Any

import aiohttp
import httpx
import orjson
import uvloop
from _figures import Figures
from _processes import Served, served
from langchain_core.tools import StructuredTool
from pydantic import BaseModel
from sqlalchemy import insert

from toolcrib import open_platform
from toolcrib.catalog.capabilities import CapabilityDraft
from toolcrib.desk.operator import operator
from toolcrib.desk.setup import first_token
from toolcrib.grants.agents import AgentDraft
from toolcrib.identity.caller import Caller
from toolcrib.identity.roles import Role
from toolcrib.langchain import get_tools_from_capabilities
from toolcrib.platform import Platform
from toolcrib.plugin.registration import Registry
from toolcrib.settings import Settings
from toolcrib.storage.tables import capabilities, capability_codes

CACHE = Path(__file__).resolve().parent.parent / ".cache" / "bench"
KEY = "a-made-up-key-of-32-characters-ok"
FIELDS = {"city": {"type": "string"}, "n": {"type": "integer"}}
HEADERS = {"Authorization": f"Bearer {KEY}"}
FEW, MANY = 100, 100_000
KINDS = (("get", 1), ("get", 32), ("post", 32))
"""POST is on disk before it is sent, so it is measured where calls share their commits."""

Call = Callable[[int], Awaitable[Any]]
Turn = Callable[[str, int], Awaitable["Cost"]]
"""`await turn(tool, at_once)` makes one turn of calls."""


@dataclass(frozen=True)
class Cost:
    """Of one call, in microseconds."""

    wall: float
    cpu: float


@dataclass
class Costs:
    """What every way cost in every round."""

    by_way: dict[str, list[Cost]] = field(default_factory=dict)

    def add(self, way: str, cost: Cost) -> None:
        self.by_way.setdefault(way, []).append(cost)

    def rate(self, way: str) -> float:
        return 1e6 / median(cost.wall for cost in self.by_way[way])

    def cpu(self, way: str) -> float:
        return median(cost.cpu for cost in self.by_way[way])

    def faster(self, way: str, other: str) -> float:
        """How many times as many calls per second."""
        pairs = zip(self.by_way[way], self.by_way[other], strict=True)
        return median(theirs.wall / ours.wall for ours, theirs in pairs)

    def lighter(self, way: str, other: str) -> float:
        """How many times less CPU per call."""
        pairs = zip(self.by_way[way], self.by_way[other], strict=True)
        return median(theirs.cpu / ours.cpu for ours, theirs in pairs)


async def turn(call: Call, *, calls: int, at_once: int, cpu: Callable[[], float]) -> Cost:
    async def worker(first: int) -> None:
        for number in range(first, calls, at_once):
            await call(number)

    began, used = time.perf_counter(), cpu()
    await asyncio.gather(*(worker(first) for first in range(at_once)))
    wall = time.perf_counter() - began
    return Cost(wall=wall / calls * 1e6, cpu=(cpu() - used) / calls * 1e6)


# --- Toolcrib -------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Crib:
    """An open platform with one agent that holds the four tools."""

    platform: Platform
    agent: int
    caller: Caller
    token: str
    held: tuple[int, ...]

    def calls(self, tool: str) -> Call:
        invoke, agent, caller = self.platform.invoke, self.agent, self.caller

        async def call(number: int) -> None:
            outcome = await invoke(agent, tool, {"city": "Oslo", "n": number}, caller)
            assert outcome.success, outcome.output.text

        return call

    async def langchain(self) -> Callable[[str], Call]:
        user, group = self.caller.user_id, self.caller.group_id
        config: Any = {"configurable": {"logged_user_id": user, "group_id": group}}
        tools, _ = await get_tools_from_capabilities(self.held, config, platform=self.platform)
        by_name = {tool.name: tool for tool in tools}

        def calls(name: str) -> Call:
            tool = by_name[name]

            async def call(number: int) -> None:
                answer = await tool.ainvoke({"city": "Oslo", "n": number}, config)
                assert "Oslo" in answer

            return call

        return calls


def api(name: str, place: str, group: int) -> CapabilityDraft:
    method = name.partition("_")[2].upper()
    options = {
        "name": name,
        "url": f"http://{place}/echo",
        "method": method,
        "headers": {"Authorization": "Bearer ${BENCH_KEY}"},
        "params" if method == "GET" else "body": FIELDS,
    }
    return CapabilityDraft(
        name=name, code=name, type="api", access_type="group", group_id=group, options=options
    )


def package(slug: str, place: str) -> dict[str, Any]:
    return {
        "slug": slug,
        "name": slug,
        "description": "Echo.",
        "type": "http",
        "config": {
            "url": f"http://{place}/echo",
            "method": slug.partition("_")[2].upper(),
            "headers": {"Authorization": "Bearer {{BENCH_KEY}}"},
        },
        "input_schema": {"type": "object", "properties": FIELDS, "required": ["city", "n"]},
    }


@asynccontextmanager
async def crib(folder: Path, place: str, *, others: int = 0) -> AsyncGenerator[Crib]:
    settings = Settings(data_dir=folder, egress_allow=(place,), log_level="warning")
    async with open_platform(settings, registry=Registry()) as platform:
        yield await furnish(platform, place, others)


async def furnish(platform: Platform, place: str, others: int) -> Crib:
    storage, desk, root = platform.storage, platform.desk, operator()
    await first_token(storage.users, storage.tokens, storage.signals, given=None)
    group = await desk.groups.create(root, name="bench")
    user = await desk.users.create(root, name="bench", role=Role.USER, group_ids=(group.id,))
    await desk.settings.put(root, "BENCH_KEY", KEY, group_id=group.id)
    await desk.secrets.put(root, "BENCH_KEY", KEY)
    await store_others(platform, group.id, others)
    ids = [
        (await desk.capabilities.create(root, api(name, place, group.id))).id
        for name in ("api_get", "api_post")
    ]
    for slug in ("package_get", "package_post"):
        await desk.packages.install(root, package(slug, place))
    agent = await desk.agents.create(
        root,
        AgentDraft(name="bench", creator_id=user.id, group_id=group.id),
        capabilities=[*ids, "installed__package_get", "installed__package_post"],
    )
    _, token = await desk.tokens.create(root, user_id=user.id, name="bench")
    caller = Caller(user_id=user.id, group_ids=user.group_ids, group_id=group.id)
    return Crib(platform, agent.id, caller, token.text, tuple(ids))


async def store_others(platform: Platform, group: int, count: int) -> None:
    """Capabilities that nobody calls, in one transaction."""
    database: Any = platform.storage.capabilities._database  # noqa: SLF001 - no such port
    drafts = [vars_of(api(f"other{n}_get", "api.example.com", group)) for n in range(count)]
    now = database.now()
    async with database.write() as connection:
        for start in range(0, count, 1000):
            part = drafts[start : start + 1000]
            made = insert(capabilities).returning(capabilities.c.id, capabilities.c.code)
            values = [{**draft, "created_at": now, "updated_at": now} for draft in part]
            rows = (await connection.execute(made, values)).all()
            codes = [{"capability_id": row.id, "code": row.code} for row in rows]
            await connection.execute(insert(capability_codes), codes)
    await platform.storage.signals.bump("catalog")


def vars_of(draft: CapabilityDraft) -> dict[str, Any]:
    known = set(capabilities.c.keys())
    names = [name for name in CapabilityDraft.__dataclass_fields__ if name in known]
    return {name: getattr(draft, name) for name in names}


# --- the others -----------------------------------------------------------------------------------


class Arguments(BaseModel):
    city: str
    n: int


def aiohttp_calls(session: aiohttp.ClientSession, base: str) -> dict[str, Call]:
    async def get(number: int) -> None:
        params = {"city": "Oslo", "n": number}
        async with session.get(f"{base}/echo", params=params, headers=HEADERS) as response:
            assert orjson.loads(await response.read())["city"] == "Oslo"

    async def post(number: int) -> None:
        body = {"city": "Oslo", "n": number}
        async with session.post(f"{base}/echo", json=body, headers=HEADERS) as response:
            assert orjson.loads(await response.read())["city"] == "Oslo"

    return {"get": get, "post": post}


def httpx_calls(client: httpx.AsyncClient, base: str) -> dict[str, Call]:
    async def get(number: int) -> str:
        params = {"city": "Oslo", "n": number}
        response = await client.get(f"{base}/echo", params=params, headers=HEADERS)
        assert response.json()["city"] == "Oslo"
        return response.text

    async def post(number: int) -> str:
        body = {"city": "Oslo", "n": number}
        response = await client.post(f"{base}/echo", json=body, headers=HEADERS)
        assert response.json()["city"] == "Oslo"
        return response.text

    return {"get": get, "post": post}


def langchain_calls(bare: Mapping[str, Call]) -> dict[str, Call]:
    """A StructuredTool over each of the httpx calls, as its documentation shows."""

    def calls(name: str) -> Call:
        async def run(city: str, n: int) -> str:
            """Echo."""
            return await bare[name](n)

        made = StructuredTool.from_function(
            coroutine=run, name=name, description="Echo.", args_schema=Arguments
        )
        return lambda number: made.ainvoke({"city": "Oslo", "n": number})

    return {name: calls(name) for name in bare}


def utcp_python() -> tuple[Path | None, str]:
    """The interpreter that has python-utcp, or why there is none."""
    python = CACHE / "utcp" / "bin" / "python"
    if not python.exists():
        try:
            subprocess.run([sys.executable, "-m", "venv", str(CACHE / "utcp")], check=True)
            wanted = ["utcp==1.2.0", "utcp-http==1.1.15", "uvloop"]
            install = [str(python), "-m", "pip", "install", "-q", *wanted]
            subprocess.run(install, check=True, capture_output=True, timeout=300)
        except (OSError, subprocess.SubprocessError) as error:
            return None, f"{type(error).__name__}: it could not be installed"
    tried = subprocess.run(
        [str(python), "-c", "import utcp_http"], check=False, capture_output=True
    )
    return (python, "") if tried.returncode == 0 else (None, f"{CACHE / 'utcp'} is incomplete")


@contextlib.contextmanager
def utcp(place: str, calls: int) -> Generator[Turn | str]:
    """A way to make turns, or the reason why there is none."""
    python, reason = utcp_python()
    if python is None:
        yield reason
        return
    command = [str(python), str(Path(__file__).with_name("_utcp.py")), place]
    pipes: Any = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "text": True}
    with subprocess.Popen(command, stderr=subprocess.DEVNULL, **pipes) as process:

        def ask(request: dict[str, Any] | None) -> dict[str, Any]:
            if request is not None:
                process.stdin.write(json.dumps(request) + "\n")
                process.stdin.flush()
            return json.loads(process.stdout.readline())

        async def one(tool: str, at_once: int) -> Cost:
            request = {"tool": tool, "calls": calls, "at_once": at_once}
            answer = await asyncio.to_thread(ask, request)
            return Cost(wall=answer["wall"] / calls * 1e6, cpu=answer["cpu"] / calls * 1e6)

        ask(None)
        yield one
        process.stdin.close()


# --- what is measured -----------------------------------------------------------------------------


async def rounds(ways: Mapping[str, Turn], tool: str, at_once: int, count: int) -> Costs:
    costs = Costs()
    for number in range(count + 1):
        for way, one in ways.items():
            cost = await one(tool, at_once)
            if number:  # the first one warms up
                costs.add(way, cost)
    return costs


def table(figures: Figures, what: str, costs: Costs) -> None:
    for way in costs.by_way:
        note = f"{costs.cpu(way):.0f} µs CPU a call"
        figures.add(f"{what}: {way}", costs.rate(way), "/s", note=note)


def ratio(figures: Figures, what: str, costs: Costs, pair: tuple[str, str], least: float) -> None:
    way, other = pair
    note = f"by CPU {costs.lighter(way, other):.2f}"
    figures.add(f"{what}: {way} / {other}", costs.faster(way, other), "x", least=least, note=note)


def here(calls: Call, options: argparse.Namespace) -> Callable[[int], Awaitable[Cost]]:
    return lambda at_once: turn(calls, calls=options.calls, at_once=at_once, cpu=time.process_time)


async def in_process(figures: Figures, options: argparse.Namespace, place: str) -> None:
    base = f"http://{place}"
    with contextlib.ExitStack() as stack, tempfile.TemporaryDirectory() as folder:
        async with (
            crib(Path(folder), place) as bench,
            aiohttp.ClientSession() as session,
            httpx.AsyncClient() as client,
        ):
            ours = await bench.langchain()
            raw, slow = aiohttp_calls(session, base), httpx_calls(client, base)
            wrapped = langchain_calls(slow)
            journal = bench.platform.storage.journal

            def way(calls: Callable[[str], Call]) -> Turn:
                async def one(tool: str, at_once: int) -> Cost:
                    cost = await here(calls(tool), options)(at_once)
                    await journal.flush()  # nobody pays for what another left to write
                    return cost

                return one

            ways: dict[str, Turn] = {
                "aiohttp": way(raw.__getitem__),
                "toolcrib api": way(lambda tool: bench.calls(f"api_{tool}")),
                "toolcrib package": way(lambda tool: bench.calls(f"package_{tool}")),
                "toolcrib in langchain": way(lambda tool: ours(f"api_{tool}")),
                "httpx": way(slow.__getitem__),
                "langchain+httpx": way(wrapped.__getitem__),
            }
            peer = (
                stack.enter_context(utcp(place, options.calls)) if options.peers else "--no-peers"
            )
            if isinstance(peer, str):
                figures.add("utcp is absent", 0, "", note=peer)
            else:
                ways["utcp"] = peer
            for tool, at_once in KINDS:
                what = f"{tool.upper()} c{at_once}"
                costs = await rounds(ways, tool, at_once, options.rounds)
                table(figures, what, costs)
                compare(figures, what, costs)


def compare(figures: Figures, what: str, costs: Costs) -> None:
    for kind in ("toolcrib api", "toolcrib package"):
        ratio(figures, what, costs, (kind, "aiohttp"), 0.6)
        ratio(figures, what, costs, (kind, "langchain+httpx"), 4)
        if "utcp" in costs.by_way:
            ratio(figures, what, costs, (kind, "utcp"), 1.5)
    ratio(figures, what, costs, ("toolcrib in langchain", "aiohttp"), 0.35)


async def over_rest(figures: Figures, options: argparse.Namespace, place: str) -> None:
    with tempfile.TemporaryDirectory() as folder:
        async with crib(Path(folder), place) as bench:
            pass
        env = {"TOOLCRIB_DATA_DIR": folder, "TOOLCRIB_EGRESS_ALLOW": place}
        app = "toolcrib.asgi:create_app"
        with (
            served(app, "--factory", env={**env, "TOOLCRIB_LOG_LEVEL": "warning"}) as server,
            served("_endpoint:forwarder", env={"UPSTREAM": place}) as floor,
        ):
            async with aiohttp.ClientSession() as session:
                headers = {"Authorization": f"Bearer {bench.token}"}
                path = f"/api/v1/agents/{bench.agent}/tools/api_{{tool}}/call"
                ways: dict[str, Turn] = {
                    "forwarder": rest(session, floor, "/{tool}", {}, options),
                    "toolcrib rest": rest(session, server, path, headers, options),
                }
                for tool, at_once in KINDS:
                    what = f"REST {tool.upper()} c{at_once}"
                    costs = await rounds(ways, tool, at_once, options.rounds)
                    table(figures, what, costs)
                    ratio(figures, what, costs, ("toolcrib rest", "forwarder"), 0.5)


def rest(
    session: aiohttp.ClientSession,
    server: Served,
    path: str,
    headers: dict[str, str],
    options: argparse.Namespace,
) -> Turn:
    """CPU is the server's."""
    sent = {**headers, "Content-Type": "application/json"}

    def calls(tool: str) -> Call:
        url = f"http://{server.place}{path.format(tool=tool)}"

        async def call(number: int) -> None:
            body = orjson.dumps({"arguments": {"city": "Oslo", "n": number}})
            async with session.post(url, data=body, headers=sent) as response:
                answer = orjson.loads(await response.read())
            assert answer.get("success"), answer

        return call

    async def one(tool: str, at_once: int) -> Cost:
        return await turn(calls(tool), calls=options.calls, at_once=at_once, cpu=lambda: server.cpu)

    return one


async def at_scale(figures: Figures, options: argparse.Namespace, place: str) -> None:
    with tempfile.TemporaryDirectory() as few, tempfile.TemporaryDirectory() as many:
        async with (
            crib(Path(few), place, others=FEW) as small,
            crib(Path(many), place, others=MANY) as large,
        ):
            ways: dict[str, Turn] = {}
            for name, bench in ((f"{FEW} stored", small), (f"{MANY:,} stored", large)):

                async def one(tool: str, at_once: int, bench: Crib = bench) -> Cost:
                    return await here(bench.calls(f"api_{tool}"), options)(at_once)

                ways[name] = one
            costs = await rounds(ways, "get", 32, options.rounds)
    table(figures, "GET c32", costs)
    first, second = ways
    same = costs.faster(second, first)
    note = f"by CPU {costs.lighter(second, first):.2f}"
    figures.add(f"GET c32: {second} / {first}", same, "x", least=0.9, most=1.1, note=note)


async def run(options: argparse.Namespace, place: str) -> Figures:
    figures = Figures()
    await in_process(figures, options, place)
    await over_rest(figures, options, place)
    await at_scale(figures, options, place)
    return figures


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--calls", type=int, default=640, help="calls of one turn")
    parser.add_argument("--rounds", type=int, default=9)
    parser.add_argument("--no-peers", dest="peers", action="store_false", help="leave utcp out")
    parser.add_argument("--json", action="store_true")
    options = parser.parse_args()
    runner = asyncio.Runner(loop_factory=uvloop.new_event_loop)
    with served("_endpoint:upstream") as upstream, runner:
        figures = runner.run(run(options, upstream.place))
    figures.show(as_json=options.json)


if __name__ == "__main__":
    main()
