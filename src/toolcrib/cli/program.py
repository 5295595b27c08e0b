"""This module says how a person calls this program from where they are."""

from __future__ import annotations

import os
import sys
from pathlib import Path


def this_program() -> str:
    """`toolcrib` where that finds this very program, else a path that does."""
    program = Path(sys.argv[0])
    if program.name != "toolcrib":
        return f"{sys.executable} -m toolcrib.cli"
    for folder in os.environ.get("PATH", "").split(os.pathsep):
        candidate = Path(folder) / "toolcrib"
        if candidate.exists():
            return "toolcrib" if candidate.samefile(program) else str(program)
    return str(program)
