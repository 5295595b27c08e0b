"""This module says how a person calls this program from where they are."""

from __future__ import annotations

import shutil
import sys
from pathlib import Path

NAME = "toolcrib"


def this_program() -> str:
    """`toolcrib` where that finds this very program, else a path that does."""
    program = Path(sys.argv[0])
    if program.name != NAME:
        return f"{sys.executable} -m toolcrib.cli"
    found = shutil.which(NAME)
    if found and program.exists() and not program.samefile(found):
        return str(program)
    return NAME if found else str(program)
