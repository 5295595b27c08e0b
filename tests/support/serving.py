"""This module starts the real server and waits for what it prints and answers."""

from __future__ import annotations

import os
import re
import signal
import subprocess
import threading
import time
from collections.abc import Callable, Generator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import IO

import httpx

from tests.support.environments import Program

ADDRESS = re.compile(r"http://(?:127\.0\.0\.1|0\.0\.0\.0):\d+")
TOKEN = re.compile(r"tcrib_[A-Za-z0-9_-]{40,}")


@dataclass
class Serving:
    """A server that runs. `printed` grows while it does."""

    process: subprocess.Popen[str]
    printed: list[str] = field(default_factory=list[str])
    readers: list[threading.Thread] = field(default_factory=list[threading.Thread])

    @property
    def output(self) -> str:
        return "".join(self.printed)

    @property
    def url(self) -> str:
        return ADDRESS.findall(self.output)[0]

    @property
    def token(self) -> str:
        return TOKEN.findall(self.output)[0]

    def stop(self, how: signal.Signals = signal.SIGTERM, *, within: float = 30) -> int:
        """Ask it to end; returns its code."""
        self.process.send_signal(how)
        return self.process.wait(within)


@contextmanager
def serving(program: Program, *options: str) -> Generator[Serving]:
    """Start `toolcrib serve` on a free port; it answers when this yields."""
    process = program.start("serve", "--port", "0", *options)
    server = Serving(process)
    for stream in (process.stdout, process.stderr):
        assert stream is not None
        reader = threading.Thread(target=_read, args=(stream, server.printed), daemon=True)
        reader.start()
        server.readers.append(reader)
    try:
        until(lambda: ADDRESS.search(server.output) or process.poll() is not None)
        assert process.poll() is None, server.output
        until(lambda: _answers(f"{server.url}/healthz"))
        yield server
    finally:
        if process.poll() is None:
            os.killpg(process.pid, signal.SIGKILL)
        process.wait()
        for reader in server.readers:
            reader.join()


def until(holds: Callable[[], object], *, within: float = 60) -> None:
    """Wait until something holds. Fails when it does not in time."""
    end = time.monotonic() + within
    while not holds():
        assert time.monotonic() < end, "it did not happen in time"
        threading.Event().wait(0.02)


def _read(stream: IO[str], printed: list[str]) -> None:
    with stream:
        printed.extend(stream)


def _answers(url: str) -> bool:
    try:
        return httpx.get(url, trust_env=False, timeout=10).is_success
    except httpx.TransportError:
        return False
