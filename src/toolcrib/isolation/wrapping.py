"""This module writes the command line of a process inside walls.

The order is the point. Root first makes the folder reachable in a mount namespace of its own and
then becomes a user that nobody is, because no limit holds root; bubblewrap then builds the walls
with the rights of that user, gives up every capability, and seals what it built; the limits are
set last, inside, where nobody can lift them.
"""

from __future__ import annotations

import os
import resource
from collections.abc import Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from toolcrib.isolation.limits import Limits
from toolcrib.isolation.programs import PATH, Programs
from toolcrib.isolation.running import Command
from toolcrib.isolation.seccomp import system_call_filter
from toolcrib.isolation.view import View

_REACHED: Final = "/tmp"  # noqa: S108 - in a mount namespace of its own
_ENTER: Final = """\
groups=$1; shift
while [ "$groups" -gt 0 ]; do
  echo $$ > "$1" || exit 97
  shift; groups=$((groups - 1))
done
"""
_MOUNT: Final = f"""\
mount --bind "$1" {_REACHED} || exit 97
shift
"""
_WALLS: Final = (
    "--unshare-user",
    "--unshare-ipc",
    "--unshare-pid",
    "--unshare-uts",
    "--unshare-cgroup-try",
    "--disable-userns",
    *("--uid", "65534", "--gid", "65534"),
    *("--cap-drop", "ALL"),
    "--die-with-parent",
    "--new-session",
    "--clearenv",
    *("--hostname", "sandbox"),
)


@dataclass(frozen=True, kw_only=True, slots=True)
class Walls:
    """What this machine builds walls with."""

    programs: Programs

    def around(
        self,
        argv: Sequence[str],
        view: View,
        limits: Limits,
        *,
        user: int | None,
        groups: Sequence[Path] = (),
        files: ExitStack,
    ) -> Command:
        """The command line. `user` is the stranger to become, for root; `groups` are cgroups'
        files to enter. `files` holds what must stay open until the process has started."""
        source = str(view.folder) if user is None else _REACHED
        descriptors: list[int] = []

        def given(content: bytes) -> str:
            descriptors.append(_file(content, files))
            return str(descriptors[-1])

        inside = [
            *_WALLS,
            *([] if view.network else ["--unshare-net"]),
            *view.mounts(source, limits),
            *(p for path, text in view.written().items() for p in ("--file", given(text), path)),
            *("--remount-ro", "/"),
            *view.variables(),
        ]
        if (program := system_call_filter()) is not None:
            inside += ["--seccomp", given(program)]
        whole = [
            *self._outside(view, user, groups),
            self.programs.bwrap,
            *inside,
            "--",
            *bounded(self.programs.prlimit, limits, total=not groups),
            *argv,
        ]
        return Command(argv=whole, env={"PATH": PATH}, descriptors=tuple(descriptors))

    def _outside(self, view: View, user: int | None, groups: Sequence[Path]) -> list[str]:
        entering = [str(len(groups)), *map(str, groups)]
        if user is None:
            return ["/bin/sh", "-c", f'{_ENTER}exec "$@"', "sh", *entering] if groups else []
        if self.programs.unshare is None:
            raise RuntimeError("Only root becomes another user.")
        return [
            *(self.programs.unshare, "--mount", "--propagation", "private", "--"),
            *("/bin/sh", "-c", f'{_ENTER}{_MOUNT}exec "$@"', "sh", *entering, str(view.folder)),
            *becoming(self.programs.setpriv, user),
        ]


def becoming(setpriv: str | None, user: int | None) -> list[str]:
    """The command line before another that makes root a stranger; empty for who is not root."""
    if user is None or setpriv is None:
        return []
    who = ("--reuid", str(user), "--regid", str(user), "--clear-groups", "--no-new-privs")
    return [setpriv, *who, "--inh-caps=-all", "--"]


def bounded(prlimit: str, limits: Limits, *, total: bool) -> list[str]:
    """The command line before another that limits each process of it.

    `total`: nothing else limits memory and processes of the whole, so every process's address
    space is limited, and the processes of its user, who may have some in another installation.
    """
    values = {
        "cpu": (resource.RLIMIT_CPU, limits.cpu),
        "fsize": (resource.RLIMIT_FSIZE, limits.file),
        "nofile": (resource.RLIMIT_NOFILE, limits.open_files),
        "core": (resource.RLIMIT_CORE, 0),
    }
    if total:
        values["as"] = (resource.RLIMIT_AS, limits.memory)
        values["nproc"] = (resource.RLIMIT_NPROC, limits.processes)
    least = {name: _lowered(kind, value) for name, (kind, value) in values.items()}
    return [prlimit, *(f"--{name}={value}:{value}" for name, value in least.items()), "--"]


def _lowered(kind: int, value: int) -> int:
    """Nobody but root raises a limit that we have ourselves."""
    hard = resource.getrlimit(kind)[1]
    return value if hard == resource.RLIM_INFINITY else min(value, hard)


def _file(content: bytes, files: ExitStack) -> int:
    """A file without a name, to be read from its beginning by the process that inherits it."""
    descriptor = os.memfd_create("toolcrib")
    files.callback(os.close, descriptor)
    os.write(descriptor, content)
    os.lseek(descriptor, 0, os.SEEK_SET)
    return descriptor
