"""This module runs commands without walls, where the operator asked for just that."""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path

from toolcrib.isolation.limits import Limits
from toolcrib.isolation.programs import PATH, find_program, find_strangers
from toolcrib.isolation.running import Command
from toolcrib.isolation.wrapping import becoming, bounded


def plain_obstacle() -> tuple[str, str] | None:
    """Plain commands are never root's: then there must be somebody else to be."""
    if os.geteuid() != 0 or (find_program("setpriv") and find_strangers()):
        return None
    return (
        "plain commands would run as root here, with no other user to become",
        "Install util-linux, or run Toolcrib as a user that is not root.",
    )


def plain(folder: Path, argv: Sequence[str], user: int | None, limits: Limits) -> Command:
    """A command without walls: limits, a clean environment, and for root another user."""
    prefix = becoming(find_program("setpriv"), user)
    if (prlimit := find_program("prlimit")) is not None:
        prefix += bounded(prlimit, limits, total=True)
    env = {"PATH": f"/usr/local/bin:{PATH}", "HOME": str(folder), "LANG": "C.UTF-8"}
    return Command(argv=[*prefix, *argv], env=env, cwd=str(folder))
