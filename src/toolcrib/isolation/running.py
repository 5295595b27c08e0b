"""This module runs one command to its end: output capped while it streams, time and disk watched.

However it ends, nothing of it runs on: the process that is started holds a whole pid namespace, or
else leads a process group, and is killed on every way out.
"""

from __future__ import annotations

import asyncio
import os
import signal
from collections.abc import Awaitable, Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from typing import Final, Literal

from toolcrib.errors import InvalidArguments
from toolcrib.isolation.tail import Kept

Ending = Literal["exited", "time", "output", "disk", "files", "closed"]
Watch = Callable[[int], Awaitable[Ending | None]]
"""Given the process, says why it must end now, or None."""
INTERVAL: Final = 0.2
_PIECE: Final = 65_536
_LINGER: Final = 2.0
"""Seconds for pipes to close after the process's end."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Ran:
    """How a command ended. `code` is 128 + N after signal N, as in a shell."""

    code: int
    output: Kept
    """Its stdout, and its stderr where both go one way."""
    errors: Kept
    ended: Ending
    starved: bool = False
    """Something in it was killed for want of memory."""
    full: bool = False
    """It could write nothing, because its folder was too full before."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Command:
    """A whole command line, walls included, ready to be started."""

    argv: Sequence[str]
    env: dict[str, str]
    cwd: str = "/"
    descriptors: tuple[int, ...] = ()


async def run(
    command: Command,
    *,
    stdin: bytes = b"",
    joined: bool,
    keep: int,
    most: int,
    seconds: float,
    watch: Watch,
    running: Callable[[Running], None],
) -> Ran:
    """Run it. `joined`: stderr goes where stdout goes. `running` is told of it once it runs.

    Raises OSError when it cannot be started.
    """
    process = await asyncio.create_subprocess_exec(
        *command.argv,
        stdin=asyncio.subprocess.PIPE,
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.STDOUT if joined else asyncio.subprocess.PIPE,
        env=command.env,
        cwd=command.cwd,
        pass_fds=command.descriptors,
        start_new_session=True,
    )
    one = Running(process, keep=keep, most=most)
    running(one)
    try:
        return await one.finish(stdin, seconds, watch)
    finally:
        await one.close()


class Running:
    """A command that runs."""

    def __init__(self, process: asyncio.subprocess.Process, *, keep: int, most: int) -> None:
        self._process = process
        self._most = most
        self._ended: Ending = "exited"
        self._output = Kept(keep)
        self._errors = Kept(keep)

    def stop(self, why: Ending) -> None:
        """End it now; what it wrote so far is its result."""
        if self._process.returncode is None and self._ended == "exited":
            self._ended = why
        self.kill()

    def kill(self) -> None:
        for kill in (os.killpg, os.kill):
            with suppress(ProcessLookupError, PermissionError):
                kill(self._process.pid, signal.SIGKILL)

    async def close(self) -> int:
        """End it, and let go of pipes that somebody outside of the walls may still hold."""
        self.kill()
        with suppress(TimeoutError):
            async with asyncio.timeout(_LINGER):
                return await self._process.wait()
        self._process._transport.close()  # pyright: ignore # noqa: SLF001, PGH003 - no public way
        return await self._process.wait()

    async def finish(self, stdin: bytes, seconds: float, watch: Watch) -> Ran:
        async with asyncio.TaskGroup() as group:
            pipes = [
                group.create_task(self._read(self._process.stdout, self._output)),
                group.create_task(self._read(self._process.stderr, self._errors)),
                group.create_task(self._write(stdin)),
            ]
            watching = group.create_task(self._watch(watch))
            await self._over(seconds)
            watching.cancel()
            await asyncio.wait(pipes, timeout=_LINGER)
            for pipe in pipes:
                pipe.cancel()
        return Ran(
            code=_code(await self.close()),
            output=self._output,
            errors=self._errors,
            ended=self._ended,
        )

    async def _over(self, seconds: float) -> None:
        """Return when the process has ended, whoever still holds its pipes."""
        try:
            async with asyncio.timeout(seconds):
                await _ended(self._process.pid)
        except TimeoutError:
            self.stop("time")
            await _ended(self._process.pid)
        self.kill()  # what is left of its group

    async def _read(self, pipe: asyncio.StreamReader | None, kept: Kept) -> None:
        while pipe is not None and (piece := await pipe.read(_PIECE)):
            if kept.total <= self._most:
                kept.add(piece)
            if kept.total > self._most:
                self.stop("output")

    async def _write(self, data: bytes) -> None:
        pipe = self._process.stdin
        if pipe is None:
            return
        with suppress(ConnectionError):
            pipe.write(data)
            await pipe.drain()
            pipe.close()

    async def _watch(self, watch: Watch) -> None:
        # Nothing tells of a disk that fills but looking.
        while (why := await watch(self._process.pid)) is None:  # noqa: ASYNC110
            await asyncio.sleep(INTERVAL)
        self.stop(why)


async def _ended(pid: int) -> None:
    """asyncio's own wait also waits for the pipes, which a descendant may hold for ever."""
    try:
        descriptor = os.pidfd_open(pid)
    except ProcessLookupError:
        return
    loop, over = asyncio.get_running_loop(), asyncio.Event()
    loop.add_reader(descriptor, over.set)
    try:
        await over.wait()
    finally:
        loop.remove_reader(descriptor)
        os.close(descriptor)


def _code(code: int) -> int:
    return 128 - code if code < 0 else code


def require_sayable(argv: Sequence[str]) -> None:
    """Raises InvalidArguments for what the system takes for no argument of a program."""
    for part in argv:
        try:
            said = os.fsencode(part)
        except UnicodeEncodeError:
            raise InvalidArguments("The command holds half a character, '\\ud800' or so.") from None
        if b"\0" in said:
            raise InvalidArguments("The command holds the character NUL.")
