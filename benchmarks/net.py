"""The guarded client against raw aiohttp, in one run: calls per second and CPU per call.

    python benchmarks/net.py [--seconds 0.5] [--rounds 11] [--loop uvloop|asyncio]

An ASGI upstream runs in a process of its own on loopback; both clients take turns, each with one
shared session, and the median round counts. The guarded client reaches the upstream because its
policy allows it, and checks, caps and times out like any call of a tool. The queries differ from
call to call, as a model's arguments do.
"""

from __future__ import annotations

import argparse
import asyncio
import contextlib
import json
import resource
import socket
import subprocess
import sys
import time
from collections.abc import Awaitable, Callable, Iterator
from pathlib import Path
from statistics import median
from typing import Any

import aiohttp
import uvloop

from toolcrib.net.client import GuardedClient
from toolcrib.net.guard import EgressPolicy

BODY = json.dumps({"city": "Oslo", "units": "metric", "days": [1, 2, 3]}).encode()
Call = Callable[[int], Awaitable[bytes]]


async def app(scope: dict[str, Any], receive: Any, send: Any) -> None:
    """The upstream: reads the body and answers 60 bytes of JSON."""
    if scope["type"] != "http":
        return
    while (await receive()).get("more_body"):
        pass
    kind = (b"content-type", b"application/json")
    length = (b"content-length", str(len(BODY)).encode())
    await send({"type": "http.response.start", "status": 200, "headers": [kind, length]})
    await send({"type": "http.response.body", "body": BODY})


@contextlib.contextmanager
def upstream() -> Iterator[str]:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    command = [sys.executable, "-m", "uvicorn", "net:app", "--port", str(port)]
    options = ["--app-dir", str(Path(__file__).parent), "--no-access-log", "--log-level", "error"]
    process = subprocess.Popen([*command, *options])
    try:
        while True:
            with contextlib.suppress(OSError), socket.create_connection(("127.0.0.1", port), 1):
                break
            time.sleep(0.05)
        yield f"127.0.0.1:{port}"
    finally:
        process.terminate()
        process.wait()


def raw_calls(session: aiohttp.ClientSession, base: str) -> dict[str, Call]:
    async def get(number: int) -> bytes:
        async with session.get(f"{base}/echo?city=Oslo&n={number}") as response:
            return await response.read()

    async def post(number: int) -> bytes:
        body = b'{"n": %d}' % number
        headers = {"Content-Type": "application/json"}
        async with session.post(f"{base}/echo", data=body, headers=headers) as response:
            return await response.read()

    return {"GET": get, "POST": post}


def guarded_calls(client: GuardedClient, base: str) -> dict[str, Call]:
    async def get(number: int) -> bytes:
        return (await client.request("GET", f"{base}/echo?city=Oslo&n={number}")).body

    async def post(number: int) -> bytes:
        body = b'{"n": %d}' % number
        headers = {"Content-Type": "application/json"}
        return (await client.request("POST", f"{base}/echo", headers=headers, body=body)).body

    return {"GET": get, "POST": post}


async def measure(call: Call, concurrency: int, seconds: float) -> tuple[float, float]:
    """`(calls per second, CPU µs per call of this process)`."""
    done = 0
    end = time.perf_counter() + seconds

    async def worker(number: int) -> None:
        nonlocal done
        while time.perf_counter() < end:
            assert await call(number) == BODY
            number += concurrency
            done += 1

    started, used = time.perf_counter(), _cpu()
    await asyncio.gather(*(worker(number) for number in range(concurrency)))
    return done / (time.perf_counter() - started), (_cpu() - used) / done * 1e6


def _cpu() -> float:
    usage = resource.getrusage(resource.RUSAGE_SELF)
    return usage.ru_utime + usage.ru_stime


async def compare(place: str, seconds: float, rounds: int) -> None:
    base = f"http://{place}"
    async with aiohttp.ClientSession() as session, GuardedClient(EgressPolicy([place])) as client:
        raw, guarded = raw_calls(session, base), guarded_calls(client, base)
        print("what       aiohttp/s guarded/s ratio  aiohttp µs guarded µs ratio")
        for method in ("GET", "POST"):
            for concurrency in (1, 32):
                theirs: list[tuple[float, float]] = []
                ours: list[tuple[float, float]] = []
                for _ in range(rounds):
                    theirs.append(await measure(raw[method], concurrency, seconds))
                    ours.append(await measure(guarded[method], concurrency, seconds))
                report(f"{method} c{concurrency}", theirs, ours)


def report(name: str, theirs: list[tuple[float, float]], ours: list[tuple[float, float]]) -> None:
    rate, cpu = (median(column) for column in zip(*theirs, strict=True))
    our_rate, our_cpu = (median(column) for column in zip(*ours, strict=True))
    print(
        f"{name:10} {rate:9.0f} {our_rate:9.0f} {our_rate / rate:5.2f}"
        f"  {cpu:10.1f} {our_cpu:10.1f} {our_cpu / cpu:5.2f}"
    )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else "")
    parser.add_argument("--seconds", type=float, default=0.5)
    parser.add_argument("--rounds", type=int, default=11)
    parser.add_argument("--loop", choices=["uvloop", "asyncio"], default="uvloop")
    options = parser.parse_args()
    factory = uvloop.new_event_loop if options.loop == "uvloop" else None
    with upstream() as place, asyncio.Runner(loop_factory=factory) as runner:
        runner.run(compare(place, options.seconds, options.rounds))


if __name__ == "__main__":
    main()
