"""This module runs a server's process: no shell, a clean environment, a group that always ends.

The process leads a group of its own. However it ends (told to, by itself, by a crash), the whole
group ends with it within a few seconds. What it writes to stderr is always read, so that it never
blocks, and only the last of it is kept.
"""

from __future__ import annotations

import asyncio
import os
import signal
from collections import deque
from collections.abc import Generator, Mapping, Sequence
from contextlib import contextmanager, suppress
from typing import Final, cast

from toolcrib.errors import SourceUnreachable, ToolcribError
from toolcrib.isolation.confinement import Confinement
from toolcrib.isolation.running import Command
from toolcrib.sources.mcp.limits import BODY_LIMIT

MAX_LINE: Final = BODY_LIMIT
"""The most bytes of one line, which is one message."""
_HIGH: Final = 1024 * 1024
_TAIL: Final = 4096
_KEPT: Final = ("PATH", "HOME", "LANG", "LC_ALL", "LC_CTYPE", "TZ", "TMPDIR", "USER", "LOGNAME")
STUCK: Final = 60.0
"""Seconds that a process may leave unread what was written to it."""
GRACE: Final = 1.0
"""Seconds that a process has after its input closes, and again after it was told to end."""


@contextmanager
def _command(
    command: str, args: Sequence[str], env: Mapping[str, str], walls: Confinement | None
) -> Generator[Command]:
    """The whole command line. What is declared is its environment, and without walls a few of our
    variables that programs need to find their way."""
    argv = (command, *args)
    if walls is None:
        kept = {name: os.environ[name] for name in _KEPT if name in os.environ}
        yield Command(argv=argv, env={**kept, **env})
        return
    with walls.around(argv, env, name="\0".join(argv)) as made:
        yield made


class ServerProcess(asyncio.SubprocessProtocol):
    """One process and its pipes. Make it with `start`, and `end` it on every path."""

    def __init__(self) -> None:
        self._transport: asyncio.SubprocessTransport | None = None
        self._lines: deque[bytes] = deque()
        self._partial = bytearray()
        self._longest = 0
        self._waiting = 0
        self._paused = False
        self._tail = b""
        self._news = asyncio.Event()
        self._writable = asyncio.Event()
        self._writable.set()
        self._stdout_over = False
        self.exited = asyncio.Event()
        self.fault: str | None = None

    @classmethod
    async def start(
        cls,
        command: str,
        args: Sequence[str],
        env: Mapping[str, str],
        *,
        walls: Confinement | None = None,
    ) -> ServerProcess:
        """Start it, behind walls where they are given.

        Raises SourceUnreachable when the command cannot be started, SetupError without walls where
        they are wanted.
        """
        work = cls._started(command, args, env, walls)
        starting = asyncio.ensure_future(work)  # noqa: TID251 - awaited here on both ways out
        try:
            return await asyncio.shield(starting)
        except asyncio.CancelledError:
            # Broken off half-way only the process itself would be ended, and not its group.
            with suppress(ToolcribError):
                await (await starting).end()
            raise

    @classmethod
    async def _started(
        cls, command: str, args: Sequence[str], env: Mapping[str, str], walls: Confinement | None
    ) -> ServerProcess:
        loop = asyncio.get_running_loop()
        try:
            with _command(command, args, env, walls) as made:
                transport, protocol = await loop.subprocess_exec(
                    cls,
                    *made.argv,
                    stdin=asyncio.subprocess.PIPE,
                    stdout=asyncio.subprocess.PIPE,
                    stderr=asyncio.subprocess.PIPE,
                    env=made.env,
                    cwd=made.cwd,
                    pass_fds=made.descriptors,
                    start_new_session=True,
                )
        except (OSError, ValueError) as error:
            cause = getattr(error, "strerror", None) or "an argument cannot be passed on"
            raise SourceUnreachable(
                f"The command could not be started: {cause}.", sent=False
            ) from None
        process = cast("ServerProcess", protocol)
        process._transport = transport  # noqa: SLF001 - our own
        return process

    @property
    def pid(self) -> int:
        return self._open.get_pid()

    @property
    def is_gone(self) -> bool:
        """It ended, or stopped talking, without having been told to."""
        return self.exited.is_set() or self._stdout_over or self.fault is not None

    @property
    def last_words(self) -> str:
        """The last that it wrote to stderr, as text."""
        return self._tail.decode(errors="replace").strip()

    def how_it_ended(self) -> str:
        """A clause for people: with which code, and its last words."""
        code = self._open.get_returncode()
        ended = "ended its output" if code is None else f"ended with code {code}"
        words = self.last_words
        if self.fault:
            return self.fault
        return f"{ended}, saying: {words[-500:]}" if words else ended

    async def next_line(self) -> bytes | None:
        """The next line of stdout; None when there will be no more."""
        while not self._lines:
            if self._stdout_over or self.fault:
                return None
            if self.exited.is_set() and not await self._some_more():
                return None
            self._news.clear()
            if not self._lines and not self._stdout_over and not self.fault:
                await self._news.wait()
        line = self._lines.popleft()
        self._waiting -= len(line)
        if self._paused and self._waiting < _HIGH // 2:
            self._paused = False
            self._reading().resume_reading()
        return line

    async def write(self, line: bytes) -> None:
        """Raises SourceUnreachable when nobody reads any more; who reads nothing for too long is
        ended."""
        pipe = cast("asyncio.WriteTransport | None", self._open.get_pipe_transport(0))
        if pipe is None or pipe.is_closing() or self.exited.is_set():
            raise SourceUnreachable("The server does not read any more.", sent=False)
        pipe.write(line)
        try:
            async with asyncio.timeout(STUCK):
                await self._writable.wait()
        except TimeoutError:
            self._give_up(f"read nothing for {STUCK:g} s")

    async def end(self) -> None:
        """Close its input, then tell the group to end, then end it."""
        pipe = self._open.get_pipe_transport(0)
        if pipe is not None:
            pipe.close()
        self._resume()
        try:
            await self._over_within(GRACE)
            for number in (signal.SIGTERM, signal.SIGKILL):
                if not self._signal(number):
                    break
                await self._over_within(GRACE)
        finally:
            self._signal(signal.SIGKILL)
            # Lets go of pipes that a process outside of the group may still hold.
            with suppress(PermissionError, ProcessLookupError):
                self._open.close()

    def pipe_data_received(self, fd: int, data: bytes) -> None:
        if fd == 2:
            self._tail = (self._tail + data)[-_TAIL:]
            return
        self._partial += data
        if b"\n" in data:
            *lines, rest = bytes(self._partial).split(b"\n")
            self._partial = bytearray(rest)
            self._lines.extend(lines)
            self._waiting += sum(map(len, lines))
            self._longest = max(map(len, lines))
            self._news.set()
        if max(len(self._partial), self._longest) > MAX_LINE:
            self._give_up(f"wrote a line longer than {MAX_LINE} bytes")
        elif self._waiting > _HIGH and not self._paused:
            self._paused = True
            self._reading().pause_reading()

    def pipe_connection_lost(self, fd: int, exc: Exception | None) -> None:
        if fd == 1:
            self._stdout_over = True
            self._news.set()
        if fd == 0:
            self._writable.set()

    def process_exited(self) -> None:
        self.exited.set()
        self._writable.set()
        self._news.set()

    def pause_writing(self) -> None:
        self._writable.clear()

    def resume_writing(self) -> None:
        self._writable.set()

    @property
    def _open(self) -> asyncio.SubprocessTransport:
        if self._transport is None:
            raise RuntimeError("The process was not started.")
        return self._transport

    def _reading(self) -> asyncio.ReadTransport:
        return cast("asyncio.ReadTransport", self._open.get_pipe_transport(1))

    def _resume(self) -> None:
        """Read on, so that a process that is writing can end."""
        self._lines.clear()
        self._waiting = 0
        if self._paused and not self._stdout_over:
            self._paused = False
            self._reading().resume_reading()

    def _give_up(self, fault: str) -> None:
        self.fault = self.fault or fault
        self._partial.clear()
        self._lines.clear()
        self._waiting = 0
        self._news.set()
        self._signal(signal.SIGKILL)

    async def _some_more(self) -> bool:
        """After its end, what it had written may still be on its way; a child may hold the pipe."""
        self._news.clear()
        with suppress(TimeoutError):
            await asyncio.wait_for(self._news.wait(), 0.2)
        return bool(self._lines)

    async def _over_within(self, seconds: float) -> None:
        """Return when the group is gone, or after so many seconds."""
        loop = asyncio.get_running_loop()
        ends = loop.time() + seconds
        with suppress(TimeoutError):
            await asyncio.wait_for(self.exited.wait(), seconds)
        # Nothing tells of a group's end but asking.
        while self.exited.is_set() and loop.time() < ends and self._signal(0):  # noqa: ASYNC110
            await asyncio.sleep(0.02)

    def _signal(self, number: int) -> bool:
        """Whether there was anybody left in the group to get it."""
        try:
            os.killpg(self.pid, number)
        except (ProcessLookupError, PermissionError):
            return False
        return True
