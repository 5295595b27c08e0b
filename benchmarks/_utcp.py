"""python-utcp beside us: a program for its own virtual environment, told what to do by line.

Reads `{"tool": "get", "calls": 500, "at_once": 32}` and answers `{"wall": …, "cpu": …}`, both in
seconds for all of the calls.
"""

from __future__ import annotations

import asyncio
import json
import sys
import time
from typing import Any

import uvloop
from utcp.utcp_client import UtcpClient


def arguments(tool: str, number: int) -> dict[str, Any]:
    given = {"city": "Oslo", "n": number}
    return given if tool == "get" else {"body": given}


async def turn(client: UtcpClient, tool: str, calls: int, at_once: int) -> dict[str, float]:
    async def worker(share: int) -> None:
        for number in range(share):
            answer = await client.call_tool(f"bench.{tool}", arguments(tool, number))
            assert answer["city"] == "Oslo", answer

    wall, cpu = time.perf_counter(), time.process_time()
    await asyncio.gather(*(worker(calls // at_once) for _ in range(at_once)))
    return {"wall": time.perf_counter() - wall, "cpu": time.process_time() - cpu}


async def main() -> None:
    template = {
        "name": "bench",
        "call_template_type": "http",
        "http_method": "GET",
        "url": f"http://{sys.argv[1]}/utcp",
    }
    client = await UtcpClient.create(config={"manual_call_templates": [template]})
    print(json.dumps({"ready": True}), flush=True)
    loop = asyncio.get_running_loop()
    while line := await loop.run_in_executor(None, sys.stdin.readline):
        print(json.dumps(await turn(client, **json.loads(line))), flush=True)


if __name__ == "__main__":
    with asyncio.Runner(loop_factory=uvloop.new_event_loop) as runner:
        runner.run(main())
