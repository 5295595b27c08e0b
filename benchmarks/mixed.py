"""Mixed load on the gateway: calls, lists and reconnects of users, while a server restarts.

    python benchmarks/mixed.py [--seconds 600] [--users 4] [--clients 3]

A server of `toolcrib serve` stands in front of two MCP servers that say who asks and what, the
user by a header which each user's own setting fills. One of the two is killed and started again
every few seconds. Each user has clients of both eras that call, list, and now and then connect
anew. At the end:

- no answer was wrong, and none was another user's;
- the server that was never killed answered every call;
- the killed one failed calls only with a reason, and was back after each restart;
- the memory of the gateway did not grow: the last fifth holds no more than the second fifth did.

TOOLCRIB_SOAK_SCALE multiplies the seconds.
"""

from __future__ import annotations

import argparse
import asyncio
import contextlib
import itertools
import os
import random
import signal
import socket
import statistics
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import AsyncGenerator, Iterator
from dataclasses import dataclass, field
from pathlib import Path

import httpx2
from mcp.client import Client
from mcp.client.streamable_http import streamable_http_client
from soak import Verdicts

from toolcrib.catalog.capabilities import CapabilityDraft
from toolcrib.desk.operator import operator
from toolcrib.desk.setup import first_token
from toolcrib.grants.agents import AgentDraft
from toolcrib.identity.roles import Role
from toolcrib.platform import open_platform
from toolcrib.plugin.registration import Registry
from toolcrib.secrets.settings import SettingOwner
from toolcrib.settings import Settings

ERAS = ("2026-07-28", "legacy")
STEADY, SHAKY = "steady", "shaky"
GROWTH = 24
"""MB that the gateway may hold more at the end than when it was warm."""


@dataclass(frozen=True, kw_only=True)
class User:
    name: str
    token: str


@dataclass(kw_only=True)
class Count:
    """What the clients saw."""

    calls: Counter[str] = field(default_factory=Counter[str])
    answered: Counter[str] = field(default_factory=Counter[str])
    lists: int = 0
    connects: int = 0
    wrong: list[str] = field(default_factory=list[str])
    foreign: list[str] = field(default_factory=list[str])
    refused: Counter[str] = field(default_factory=Counter[str])
    broken: Counter[str] = field(default_factory=Counter[str])
    back: set[int] = field(default_factory=set[int])
    """Restarts after which the shaky server answered."""


# --- what runs ------------------------------------------------------------------------------------


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


def answers(port: int) -> bool:
    with contextlib.suppress(OSError), socket.create_connection(("127.0.0.1", port), 1):
        return True
    return False


def started(command: list[str], port: int, **env: str) -> subprocess.Popen[bytes]:
    """A process that listens on the port by now."""
    process = subprocess.Popen(command, env={**os.environ, **env}, stdout=subprocess.DEVNULL)
    while not answers(port):
        if process.poll() is not None:
            raise SystemExit(f"{command} ended with {process.returncode}")
        time.sleep(0.05)
    return process


def mirror(name: str, port: int) -> subprocess.Popen[bytes]:
    place = ["--app-dir", str(Path(__file__).parent), "--port", str(port)]
    command = [sys.executable, "-m", "uvicorn", "_mirror:app", "--log-level", "error", *place]
    return started(command, port, MIRROR_NAME=name)


def serve(folder: Path, port: int) -> subprocess.Popen[bytes]:
    command = [str(Path(sys.executable).with_name("toolcrib")), "serve", "--port", str(port)]
    given = {"TOOLCRIB_EGRESS_ALLOW": "127.0.0.0/8", "TOOLCRIB_DATA_DIR": str(folder)}
    return started(command, port, TOOLCRIB_LOG_LEVEL="error", **given)


@contextlib.contextmanager
def ended(process: subprocess.Popen[bytes]) -> Iterator[subprocess.Popen[bytes]]:
    """The process, ended afterwards."""
    try:
        yield process
    finally:
        process.terminate()
        process.wait()


def memory(pid: int) -> float:
    """Resident MB."""
    pages = int(Path(f"/proc/{pid}/statm").read_text().split()[1])
    return pages * os.sysconf("SC_PAGE_SIZE") / 2**20


async def prepare(settings: Settings, places: dict[str, int], names: list[str]) -> list[User]:
    """Users with a setting and a token each, and one agent that holds both servers."""
    boss = operator()
    made: list[User] = []
    async with open_platform(settings, registry=Registry(), background=False) as platform:
        desk, storage = platform.desk, platform.storage
        await first_token(storage.users, storage.tokens, storage.signals, given=None)
        group = await desk.groups.create(boss, name="Soak")
        rows = [await desk.capabilities.create(boss, row(name, places[name])) for name in places]
        draft = AgentDraft(name="Soak", group_id=group.id, creator_id=boss.user_id)
        await desk.agents.create(boss, draft, capabilities=[one.id for one in rows])
        for name in names:
            user = await desk.users.create(boss, name=name, role=Role.USER, group_ids=[group.id])
            await platform.values.put("WHO", name, SettingOwner(user_id=user.id))
            _, token = await desk.tokens.create(boss, user_id=user.id, name="soak")
            made.append(User(name=name, token=token.text))
    return made


def row(name: str, port: int) -> CapabilityDraft:
    options = {
        "server_label": name,
        "server_url": f"http://127.0.0.1:{port}/mcp",
        "require_approval": "never",
        "headers": {"X-Who": "${WHO}"},
    }
    return CapabilityDraft(name=name, code=name, type="mcp", access_type="system", options=options)


# --- what clients do ------------------------------------------------------------------------------


@contextlib.asynccontextmanager
async def connected(url: str, user: User, era: str) -> AsyncGenerator[Client]:
    headers = {"Authorization": f"Bearer {user.token}"}
    async with httpx2.AsyncClient(headers=headers, timeout=60) as http:
        transport = streamable_http_client(url, http_client=http)
        async with Client(transport, mode=era) as client:
            yield client


async def use(url: str, user: User, era: str, count: Count, state: State) -> None:
    """Connect, work for a while, leave, and again until the time is over."""
    numbers = itertools.count(random.randrange(10**6))  # noqa: S311 - anything
    while not state.over:
        try:
            async with connected(url, user, era) as client:
                count.connects += 1
                for _ in range(random.randrange(20, 200)):  # noqa: S311
                    if state.over:
                        break
                    number = next(numbers)
                    if number % 10 == 0:
                        await list_once(client, count)
                    else:
                        await call_once(client, user, number, count, state)
        except Exception as error:  # noqa: BLE001 - whatever happens is what is counted
            count.broken[f"{type(error).__name__}: {error}"[:200]] += 1


async def list_once(client: Client, count: Count) -> None:
    names = {tool.name for tool in (await client.list_tools()).tools}
    count.lists += 1
    if f"who_{STEADY}" not in names or not names <= {f"who_{STEADY}", f"who_{SHAKY}"}:
        count.wrong.append(f"listed {sorted(names)}")


async def call_once(client: Client, user: User, number: int, count: Count, state: State) -> None:
    name = SHAKY if number % 3 == 0 else STEADY
    restart = state.restarts
    count.calls[name] += 1
    try:
        result = await client.call_tool(f"who_{name}", {"n": number})
    except Exception as error:
        if name == STEADY:
            raise
        count.refused[f"{type(error).__name__}: {error}"[:120]] += 1
        return
    said = " ".join(getattr(block, "text", "") for block in result.content)
    if said == f"{user.name}:{name}:{number}":
        count.answered[name] += 1
        if name == SHAKY:
            count.back.add(restart)
    elif result.is_error and name == SHAKY and said:
        count.refused[said[:120]] += 1
    elif said.split(":")[0] in state.names - {user.name}:
        count.foreign.append(f"{user.name} got {said!r}")
    else:
        count.wrong.append(f"{user.name} called {name} with {number} and got {said!r}")


# --- the run --------------------------------------------------------------------------------------


@dataclass(kw_only=True)
class State:
    names: set[str]
    restarts: int = 0
    over: bool = False
    told: str = ""
    """How the servers are at the end, in the gateway's words."""


async def shake(port: int, first: subprocess.Popen[bytes], state: State, until: float) -> None:
    """Kill the shaky server and start it again, every few seconds."""
    process = first
    try:
        while time.monotonic() < until - 12:
            await asyncio.sleep(random.uniform(2, 5))  # noqa: S311
            process.send_signal(signal.SIGKILL)
            process.wait()
            await asyncio.sleep(random.uniform(0, 1))  # noqa: S311
            process = await asyncio.to_thread(mirror, SHAKY, port)
            state.restarts += 1
            await asyncio.sleep(3)
        await asyncio.sleep(max(0.0, until - time.monotonic()))
    finally:
        state.over = True
        process.kill()
        process.wait()


async def watch(pid: int, state: State, seen: list[float]) -> None:
    while not state.over:
        seen.append(memory(pid))
        await asyncio.sleep(0.5)


async def run(options: argparse.Namespace, folder: Path) -> tuple[Count, State, list[float]]:
    places = {STEADY: free_port(), SHAKY: free_port()}
    names = [f"user{number}" for number in range(options.users)]
    settings = Settings(data_dir=folder, egress_allow=("127.0.0.0/8",))
    users = await prepare(settings, places, names)
    count, state, seen = Count(), State(names=set(names)), []
    port = free_port()
    url = f"http://127.0.0.1:{port}/mcp/agents/1"
    with contextlib.ExitStack() as stack:
        stack.enter_context(ended(mirror(STEADY, places[STEADY])))
        gateway = stack.enter_context(ended(serve(folder, port)))
        shaky = stack.enter_context(ended(mirror(SHAKY, places[SHAKY])))
        async with asyncio.TaskGroup() as group:
            until = time.monotonic() + options.seconds
            group.create_task(shake(places[SHAKY], shaky, state, until))
            group.create_task(watch(gateway.pid, state, seen))
            for user, number in itertools.product(users, range(options.clients)):
                group.create_task(use(url, user, ERAS[number % len(ERAS)], count, state))
        state.told = await told_of_servers(port, users[0])
    return count, state, seen


async def told_of_servers(port: int, user: User) -> str:
    headers = {"Authorization": f"Bearer {user.token}"}
    async with httpx2.AsyncClient(headers=headers, timeout=60) as http:
        rows = (await http.get(f"http://127.0.0.1:{port}/api/v1/mcp/servers")).json()["items"]
    return ", ".join(f"{row['label']}: {row['status']} {row['error'] or ''}" for row in rows)


def judge(count: Count, state: State, seen: list[float], verdicts: Verdicts) -> None:
    calls = sum(count.calls.values())
    print(
        f"    {calls:,} calls, {count.lists:,} lists, {count.connects:,} connections,"
        f" {state.restarts} restarts, {sum(count.refused.values()):,} calls refused"
    )
    verdicts.holds("answers were right", wrong=len(count.wrong), of=calls)
    verdicts.holds("answers were the user's own", wrong=len(count.foreign), of=calls)
    missed = count.calls[STEADY] - count.answered[STEADY]
    verdicts.holds(
        "calls of the server that never fell were answered", wrong=missed, of=count.calls[STEADY]
    )
    verdicts.holds(
        "clients were never cut off", wrong=sum(count.broken.values()), of=count.connects
    )
    gone = [n for n in range(1, state.restarts + 1) if n not in count.back]
    verdicts.holds("restarts brought the other one back", wrong=len(gone), of=state.restarts)
    print(f"    {state.told}")
    fifth = max(len(seen) // 5, 1)
    warm, late = statistics.median(seen[fifth : 2 * fifth]), statistics.median(seen[-fifth:])
    print(f"    the gateway held {warm:.0f} MB when it was warm and {late:.0f} MB at the end")
    verdicts.holds("memory stayed flat", wrong=int(late - warm > GROWTH), of=1)
    told = (*count.wrong[:3], *count.foreign[:3], *(t for t, _ in count.broken.most_common(3)))
    for text in (*told, *(f"{n}x {t}" for t, n in count.refused.most_common(5))):
        print(f"      {text}")


def main() -> int:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    scale = float(os.environ.get("TOOLCRIB_SOAK_SCALE", "1"))
    parser.add_argument("--seconds", type=float, default=600 * scale)
    parser.add_argument("--users", type=int, default=4)
    parser.add_argument("--clients", type=int, default=3)
    options = parser.parse_args()
    print(
        f"gateway: {options.users} users with {options.clients} clients each, {options.seconds:g} s"
    )
    verdicts = Verdicts()
    with tempfile.TemporaryDirectory(prefix="mixed-") as folder:
        judge(*asyncio.run(run(options, Path(folder))), verdicts)
    print("everything held" if not verdicts.broken else f"{verdicts.broken} did not hold")
    return min(verdicts.broken, 1)


if __name__ == "__main__":
    sys.exit(main())
