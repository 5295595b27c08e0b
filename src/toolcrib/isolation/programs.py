"""This module finds the programs that walls are built with, and a user that nobody is."""

from __future__ import annotations

import os
import shutil
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final

PATH: Final = "/usr/sbin:/usr/bin:/sbin:/bin"
"""Where programs are looked for, by us and inside: never in a folder that a caller can write to."""
_RANGES: Final = ((1_900_000_000, 100_000_000), (40_000, 20_000))
"""First users, and how many: where nothing else allocates; the second is for containers that have
few users."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Programs:
    """Paths; those that only root needs are None for anybody else."""

    bwrap: str
    prlimit: str
    setpriv: str | None = None
    unshare: str | None = None


@dataclass(frozen=True, kw_only=True, slots=True)
class Strangers:
    """Users under whom sandboxes run when we are root: each sandbox has its own."""

    first: int
    number: int

    def of(self, number: int) -> int:
        return self.first + number % self.number


def find_programs() -> tuple[Programs | None, Sequence[str]]:
    """The programs, or the names of the packages that bring the missing ones."""
    root = os.geteuid() == 0
    wanted = ("bwrap", "prlimit", "setpriv", "unshare") if root else ("bwrap", "prlimit")
    found = {name: find_program(name) for name in wanted}
    missing = [name for name, path in found.items() if path is None]
    if missing:
        packages = {"bubblewrap" if name == "bwrap" else "util-linux" for name in missing}
        return None, sorted(packages)
    return Programs(**{name: path for name, path in found.items() if path is not None}), ()


def find_program(name: str) -> str | None:
    """Its path, in the folders that only the machine's owner writes to."""
    return shutil.which(name, path=PATH)


def find_strangers(mapping: Path = Path("/proc/self/uid_map")) -> Strangers | None:
    """Unused users that exist in this user namespace; None when we are not root."""
    if os.geteuid() != 0:
        return None
    known = [tuple(map(int, line.split())) for line in mapping.read_text().splitlines()]
    for first, number in _RANGES:
        if any(start <= first and first + number <= start + size for start, _, size in known):
            return Strangers(first=first, number=number)
    return None
