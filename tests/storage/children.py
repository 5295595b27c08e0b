"""This module runs real processes of Python beside the test, and lets them be killed."""

from __future__ import annotations

import asyncio
import sys
from asyncio.subprocess import PIPE, Process
from textwrap import dedent


async def start(program: str, *arguments: str) -> Process:
    """A process that runs the program with the arguments as `sys.argv[1:]`."""
    return await asyncio.create_subprocess_exec(
        sys.executable, "-W", "error", "-c", dedent(program), *arguments, stdout=PIPE, stderr=PIPE
    )


async def finish(*processes: Process) -> list[str]:
    """What each printed. Fails with a process's errors when it did not end well."""
    outputs = await asyncio.gather(*(process.communicate() for process in processes))
    for process, (_, errors) in zip(processes, outputs, strict=True):
        assert process.returncode == 0, errors.decode()
    return [printed.decode() for printed, _ in outputs]
