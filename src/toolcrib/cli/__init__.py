"""The command line: one file a noun, one function a command.

A command is a client of the REST surface, in process or over the network, and shows what came
back: as a table for people, or as the same JSON with `--json`. So both ways say one thing.
"""

from __future__ import annotations

import sys
from collections.abc import Sequence


def main(arguments: Sequence[str] | None = None) -> int:
    """Run one command and return its exit code; without arguments, those of the process."""
    try:
        from toolcrib.cli.running import run  # noqa: PLC0415 - `import toolcrib.cli` stays light
    except KeyboardInterrupt:
        return 130
    return run(sys.argv[1:] if arguments is None else arguments)
