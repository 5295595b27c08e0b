"""This module finds out what this machine can enforce, by trying it."""

from __future__ import annotations

import os
import shutil
import subprocess
import tempfile
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from toolcrib.isolation.cgroups import Cgroups, find_cgroups
from toolcrib.isolation.limits import Limits
from toolcrib.isolation.programs import Strangers, find_programs, find_strangers
from toolcrib.isolation.seccomp import system_call_filter
from toolcrib.isolation.view import View
from toolcrib.isolation.wrapping import Walls

_TRIAL: Final = """\
grep -E '^(CapEff|NoNewPrivs|Seccomp):' /proc/self/status
echo interfaces $(($(wc -l < /proc/net/dev) - 2))
touch tried && echo writes
touch /tried 2>/dev/null || echo sealed
"""
_EXPECTED: Final = (
    "CapEff:\t0000000000000000",
    "NoNewPrivs:\t1",
    "interfaces 1",
    "writes",
    "sealed",
)


@dataclass(frozen=True, kw_only=True, slots=True)
class Isolation:
    """What can be enforced here. Without `walls`, `reason` and `fix` say why there are none."""

    walls: Walls | None = None
    strangers: Strangers | None = None
    cgroups: Cgroups | None = None
    reason: str = ""
    fix: str = ""

    def enforced(self, limits: Limits) -> list[str]:
        """For people: one sentence for each thing that holds here."""
        if self.walls is None:
            return []
        whole = self.cgroups is not None
        version = f"cgroup v{self.cgroups.version}" if self.cgroups else ""
        mib = limits.memory // 2**20
        memory = f"{mib} MiB and {limits.processes} processes"
        filtered = system_call_filter() is not None
        return [
            "own users, processes, network, mounts and names by bubblewrap; no capabilities",
            f"memory and processes: {memory}, "
            + (f"for a whole sandbox by {version}" if whole else "memory for each process alone"),
            f"system calls: {'filtered' if filtered else 'not filtered on this kind of machine'}",
            f"disk: {limits.disk // 2**20} MiB, watched several times a second",
        ]


def probe() -> Isolation:
    """Build walls once, for a command that looks around. Takes some 50 ms."""
    programs, missing = find_programs()
    if programs is None:
        names = " ".join(missing)
        return Isolation(
            reason=f"commands cannot be isolated here: {names} is not installed",
            fix=f"apt-get install {names}",
        )
    strangers = find_strangers()
    if os.geteuid() == 0 and strangers is None:
        return Isolation(
            reason="commands cannot be isolated here: this container has no unused users",
            fix="Run Toolcrib as a user that is not root.",
        )
    walls = Walls(programs=programs)
    problem = _tried(walls, strangers)
    if problem is not None:
        return Isolation(
            reason=f"commands cannot be isolated here: {problem}",
            fix="Allow unprivileged user namespaces "
            "(sysctl kernel.unprivileged_userns_clone=1, user.max_user_namespaces; in a container "
            "a seccomp and AppArmor profile that lets bubblewrap work).",
        )
    return Isolation(walls=walls, strangers=strangers, cgroups=find_cgroups())


def _tried(walls: Walls, strangers: Strangers | None) -> str | None:
    """What is wrong, or None."""
    folder = Path(tempfile.mkdtemp(prefix="toolcrib-probe-"))
    user = None if strangers is None else strangers.of(0)
    try:
        if user is not None:
            os.chown(folder, user, user)
        with ExitStack() as files:
            command = walls.around(
                ("/bin/sh", "-c", _TRIAL), View(folder=folder), Limits(), user=user, files=files
            )
            done = subprocess.run(  # noqa: S603 - our own words
                command.argv,
                env=command.env,
                pass_fds=command.descriptors,
                stdin=subprocess.DEVNULL,
                capture_output=True,
                timeout=20,
                check=False,
                cwd="/",
            )
    except (OSError, subprocess.TimeoutExpired) as error:
        return str(error)
    finally:
        shutil.rmtree(folder, ignore_errors=True)
    said = done.stdout.decode(errors="replace").splitlines()
    missing = [line for line in _EXPECTED if line not in said]
    if not missing:
        return None
    words = done.stderr.decode(errors="replace").strip().splitlines()
    return words[-1] if words else f"a trial did not show {missing[0]!r}"
