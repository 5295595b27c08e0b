"""Many calls at once from two processes on one database, and one of the processes killed.

    python benchmarks/soak.py [--seconds 10] [--parallel 64] [--database sqlite|postgres]

Every tool writes down by itself that it began, past Toolcrib, in a file. Afterwards the journal
must know each of those calls:

- calm: all of them, each with its end; no call failed, no database was locked;
- killed: one process gets SIGKILL half way. Of its calls that may change something, all; of those
  that only look, all but the ones of the last 100 ms. The other process does not notice.

TOOLCRIB_SOAK_SCALE multiplies the seconds. PostgreSQL is the one of TEST_POSTGRES_URL, a database
of its own is made there; where none answers it is left out, unless CI is set.
"""

from __future__ import annotations

import argparse
import asyncio
import contextlib
import json
import os
import secrets
import signal
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import psycopg

from toolcrib.desk.operator import operator
from toolcrib.grants.agents import AgentDraft
from toolcrib.identity.caller import Caller
from toolcrib.identity.roles import Role
from toolcrib.invocation.journal import CallFilter, CallRecord
from toolcrib.platform import open_platform
from toolcrib.plugin.registration import Registry, annotations
from toolcrib.settings import Settings
from toolcrib.tools.call import current_call

POSTGRES = os.environ.get("TEST_POSTGRES_URL", "postgresql://root@127.0.0.1:5432/test")
UNWRITTEN = 0.1
"""Seconds of read-only calls that a killed process may take with it."""


# --- one process ----------------------------------------------------------------------------------


def tools(witness: int) -> Registry:
    """Two tools that write down that they began: call, kind, time."""

    def begin(kind: str) -> None:
        call = current_call.get()
        os.write(witness, f"{call.call_id if call else '?'} {kind} {time.time()!r}\n".encode())

    async def soak_change(number: int) -> str:
        """Change something."""
        begin("change")
        await asyncio.sleep(0)
        return f"changed {number}"

    @annotations(read_only=True)
    async def soak_look(number: int) -> str:
        """Look at something."""
        begin("look")
        await asyncio.sleep(0)
        return f"looked at {number}"

    registry = Registry()
    registry.register_tools("soak", [soak_change, soak_look], name="Soak", description="Witnesses")
    return registry


@dataclass(frozen=True, kw_only=True, slots=True)
class Job:
    """What a process of the soak is told."""

    data_dir: str
    database_url: str
    agent_id: int
    user_id: int
    group_id: int
    parallel: int
    seconds: float
    name: str

    @property
    def settings(self) -> Settings:
        return Settings(data_dir=Path(self.data_dir), database_url=self.database_url)

    @property
    def witness(self) -> Path:
        return Path(self.data_dir) / f"{self.name}.witness"


async def work(job: Job) -> dict[str, Any]:
    """Call until the time is over; says how many calls, how long they took, what failed."""
    caller = Caller(user_id=job.user_id, role=Role.USER, group_ids=frozenset({job.group_id}))
    witness = os.open(job.witness, os.O_WRONLY | os.O_CREAT | os.O_APPEND)
    took: list[float] = []
    failures: list[str] = []

    async with open_platform(job.settings, registry=tools(witness)) as platform:
        for name in ("soak_change", "soak_look"):  # the first call of each resolves and compiles
            await platform.invoke(job.agent_id, name, {"number": -1}, caller, surface="soak")
        end = time.perf_counter() + job.seconds

        async def one_after_the_other(number: int) -> None:
            while time.perf_counter() < end:
                began = time.perf_counter()
                name = "soak_change" if number % 2 else "soak_look"
                try:
                    outcome = await platform.invoke(
                        job.agent_id, name, {"number": number}, caller, surface="soak"
                    )
                    if not outcome.success:
                        failures.append(outcome.output.text)
                except Exception as error:  # noqa: BLE001 - whatever happens is what is counted
                    failures.append(f"{type(error).__name__}: {error}")
                took.append(time.perf_counter() - began)

        print("ready", flush=True)
        await asyncio.gather(*(one_after_the_other(number) for number in range(job.parallel)))
    return {"took": took, "failures": failures}


# --- what they found ------------------------------------------------------------------------------


async def prepare(settings: Settings, job: Mapping[str, Any]) -> Job:
    """A group, a user, and an agent that holds the witnesses."""
    boss = operator()
    witness = os.open(os.devnull, os.O_WRONLY)
    async with open_platform(settings, registry=tools(witness)) as platform:
        desk = platform.desk
        group = await desk.groups.create(boss, name="Soak")
        user = await desk.users.create(boss, name="soak", role=Role.USER, group_ids=[group.id])
        await desk.capabilities.create_from_registered(boss, code="soak", group_id=group.id)
        draft = AgentDraft(name="Soak", group_id=group.id, creator_id=boss.user_id)
        agent = await desk.agents.create(boss, draft, capabilities=["soak"])
    return Job(agent_id=agent.id, user_id=user.id, group_id=group.id, **job)


async def journal_of(settings: Settings) -> dict[str, CallRecord]:
    """Every record of the soak, by call_id."""
    found: dict[str, CallRecord] = {}
    async with open_platform(settings, registry=Registry(), background=False) as platform:
        journal, before = platform.storage.journal, None
        while rows := await journal.list(CallFilter(everything=True), before=before, limit=5000):
            found |= {row.call_id: row for row in rows}
            before = rows[-1].call_id
    return found


def witnessed(job: Job) -> dict[str, tuple[str, float]]:
    """call_id → kind and time, as the tools wrote them down."""
    lines = [line.split() for line in job.witness.read_text().splitlines()]
    return {call_id: (kind, float(at)) for call_id, kind, at in lines}


class Verdicts:
    """What held and what did not."""

    def __init__(self) -> None:
        self.broken = 0

    def holds(self, text: str, *, wrong: int, of: int) -> None:
        """`wrong` of them did not hold; with nothing to judge nothing was shown, which counts."""
        held = not wrong and of > 0
        self.broken += not held
        print(f"  {'✓' if held else '✗'} {text}: {of - wrong:,} of {of:,}")


# --- two processes --------------------------------------------------------------------------------


def start(job: Job) -> subprocess.Popen[str]:
    told = json.dumps({name: getattr(job, name) for name in Job.__slots__})
    return subprocess.Popen(
        [sys.executable, __file__, "--worker", told],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )


def wait_ready(*processes: subprocess.Popen[str]) -> None:
    for process in processes:
        if process.stdout is None or process.stdout.readline().strip() != "ready":
            raise SystemExit(f"a process did not start:\n{process.communicate()[1]}")


def finish(process: subprocess.Popen[str], verdicts: Verdicts, name: str) -> dict[str, Any]:
    output, errors = process.communicate()
    if process.returncode:
        raise SystemExit(f"{name} ended with {process.returncode}:\n{errors}")
    report = json.loads(output.splitlines()[-1])
    verdicts.holds(
        f"calls of {name} ended well", wrong=len(report["failures"]), of=len(report["took"])
    )
    locked = sum("locked" in text for text in [errors, *report["failures"]])
    verdicts.holds(f"{name} met no locked database", wrong=min(locked, 1), of=1)
    for text in sorted(set(report["failures"]))[:3]:
        print(f"      {text}")
    return report


def calm(job: Job, verdicts: Verdicts) -> None:
    """Two processes until the time is over."""
    first, second = (replaced(job, name=name) for name in ("first", "second"))
    processes = [start(first), start(second)]
    wait_ready(*processes)
    reports = [
        finish(one, verdicts, name)
        for one, name in zip(processes, ("first", "second"), strict=True)
    ]
    took = [one for report in reports for one in report["took"]]
    steps = statistics.quantiles(took, n=100)
    print(
        f"    {len(took) / job.seconds:,.0f} calls/s together,"
        f" half within {steps[49] * 1000:.1f} ms, 99 % within {steps[98] * 1000:.1f} ms"
    )
    journal = asyncio.run(journal_of(job.settings))
    began = witnessed(first) | witnessed(second)
    ended = [call_id for call_id in began if call_id in journal and journal[call_id].success]
    verdicts.holds("calls are in the journal", wrong=len(began.keys() - journal), of=len(began))
    verdicts.holds("they have their end there", wrong=len(began) - len(ended), of=len(began))


def killed(job: Job, verdicts: Verdicts) -> None:
    """Two processes, one of which is killed half way."""
    victim, survivor = (replaced(job, name=name) for name in ("victim", "survivor"))
    processes = [start(victim), start(survivor)]
    wait_ready(*processes)
    time.sleep(job.seconds / 2)
    at = time.time()
    processes[0].send_signal(signal.SIGKILL)
    processes[0].communicate()
    finish(processes[1], verdicts, "survivor")
    journal = asyncio.run(journal_of(job.settings))
    for who in (victim, survivor):
        began = witnessed(who)
        lost = {one: when for one, (_, when) in began.items() if one not in journal}
        due = at - UNWRITTEN if who is victim else float("inf")
        for kind, text in (("change", "change"), ("look", "only look")):
            ids = [
                one
                for one, (is_a, when) in began.items()
                if is_a == kind and (kind == "change" or when < due)
            ]
            missing = sum(one in lost for one in ids)
            verdicts.holds(
                f"calls of the {who.name} that {text} are kept", wrong=missing, of=len(ids)
            )
        if lost:
            age = at - min(lost.values())
            print(f"    {len(lost)} were lost, the oldest of them {age * 1000:.0f} ms old")


def replaced(job: Job, **changes: Any) -> Job:
    return Job(**{**{name: getattr(job, name) for name in Job.__slots__}, **changes})


# --- the databases --------------------------------------------------------------------------------


@contextlib.contextmanager
def sqlite(folder: str) -> Iterator[str]:
    yield f"sqlite:///{folder}/toolcrib.db"


@contextlib.contextmanager
def postgres(folder: str) -> Iterator[str]:
    """A new database, dropped afterwards."""
    name = f"soak_{secrets.token_hex(4)}"
    with psycopg.connect(POSTGRES, autocommit=True) as server:
        server.execute(f"create database {name}")
        try:
            yield f"{POSTGRES.rpartition('/')[0]}/{name}"
        finally:
            server.execute(f"drop database {name} with (force)")


def postgres_answers() -> bool:
    try:
        psycopg.connect(POSTGRES, connect_timeout=3).close()
    except psycopg.OperationalError as error:
        print(f"PostgreSQL is left out, it does not answer at {POSTGRES}: {error}")
        if os.environ.get("CI"):
            raise SystemExit(1) from None
        return False
    return True


Database = Callable[[str], contextlib.AbstractContextManager[str]]


def soak(database: Database, options: argparse.Namespace, verdicts: Verdicts) -> None:
    for run in (calm, killed):
        print(f"{database.__name__}, {run.__name__}: 2 processes, {options.parallel} calls at once")
        with tempfile.TemporaryDirectory(prefix="soak-") as folder, database(folder) as url:
            settings = Settings(data_dir=Path(folder), database_url=url)
            told = {
                "data_dir": folder,
                "database_url": url,
                "parallel": options.parallel // 2,
                "seconds": options.seconds,
                "name": "",
            }
            run(asyncio.run(prepare(settings, told)), verdicts)


def main() -> int:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    scale = float(os.environ.get("TOOLCRIB_SOAK_SCALE", "1"))
    parser.add_argument("--seconds", type=float, default=10 * scale)
    parser.add_argument("--parallel", type=int, default=64)
    parser.add_argument("--database", choices=["sqlite", "postgres"])
    parser.add_argument("--worker", help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.worker:
        print(json.dumps(asyncio.run(work(Job(**json.loads(options.worker))))))
        return 0
    verdicts = Verdicts()
    if options.database != "postgres":
        soak(sqlite, options, verdicts)
    if options.database != "sqlite" and postgres_answers():
        soak(postgres, options, verdicts)
    print("all of it held" if not verdicts.broken else f"{verdicts.broken} did not hold")
    return 1 if verdicts.broken else 0


if __name__ == "__main__":
    sys.exit(main())
