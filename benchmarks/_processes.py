"""Programs that run beside a benchmark: started, awaited, their CPU read, ended."""

from __future__ import annotations

import contextlib
import os
import socket
import subprocess
import sys
import time
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

_TICK = os.sysconf("SC_CLK_TCK")


@dataclass(frozen=True)
class Served:
    """An ASGI application in a process of its own, on loopback."""

    place: str
    pid: int

    @property
    def cpu(self) -> float:
        """Seconds of CPU so far, all threads."""
        fields = Path(f"/proc/{self.pid}/stat").read_text().rpartition(")")[2].split()
        return (int(fields[11]) + int(fields[12])) / _TICK


@contextlib.contextmanager
def served(
    app: str,
    *options: str,
    env: Mapping[str, str] | None = None,
    python: str = sys.executable,
) -> Iterator[Served]:
    """Serve `module:app` of this folder or of the library with uvicorn, one worker."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    command = [python, "-m", "uvicorn", app, "--port", str(port), *options]
    quiet = ["--app-dir", str(Path(__file__).parent), "--no-access-log", "--log-level", "error"]
    quiet += ["--timeout-keep-alive", "600"]  # a connection outlives the turns of the others
    environment = {**os.environ, **(env or {})}
    process = subprocess.Popen([*command, *quiet], env=environment, stdout=subprocess.DEVNULL)
    try:
        while True:
            with contextlib.suppress(OSError), socket.create_connection(("127.0.0.1", port), 1):
                break
            if process.poll() is not None:
                raise RuntimeError(f"{app} ended with {process.returncode}")
            time.sleep(0.05)
        yield Served(f"127.0.0.1:{port}", process.pid)
    finally:
        process.terminate()
        process.wait()
