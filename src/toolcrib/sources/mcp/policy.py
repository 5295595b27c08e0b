"""This module decides which commands may be started as servers: those that the operator lists.

An entry is a command's name or a whole path. An empty list means that nothing is started.
"""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterable
from pathlib import Path

from toolcrib.errors import EgressBlocked
from toolcrib.isolation.confinement import Confinement

SETTING = "TOOLCRIB_STDIO_ALLOW"


class StdioPolicy:
    """`walls`: what commands are started behind; None: they run with our rights."""

    def __init__(self, allow: Iterable[str] = (), *, walls: Confinement | None = None) -> None:
        self.walls = walls
        self._names = frozenset(entry for entry in allow if "/" not in entry)
        self._paths = frozenset(os.path.normpath(entry) for entry in allow if "/" in entry)

    def resolved(self, command: str) -> str:
        """The path to start. Raises EgressBlocked for a command that is not listed."""
        found = shutil.which(command) or command
        path = os.path.normpath(found)
        real = os.path.realpath(found)
        if Path(command).name in self._names or {path, real} & self._paths:
            return path if os.sep in path else command
        hint = f"The operator can allow it: {SETTING}={path}"
        what = "no command may be started here" if not self else "it is not on the operator's list"
        raise EgressBlocked(
            f"The command {command!r} is not started: {what}.", hint=hint, sent=False
        )

    def __bool__(self) -> bool:
        return bool(self._names or self._paths)
