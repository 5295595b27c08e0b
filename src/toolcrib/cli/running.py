"""This module runs one command from its arguments to its exit code, and is quiet about a person
who pressed Ctrl-C and a reader who has seen enough."""

from __future__ import annotations

import os
import sys
from collections.abc import Sequence
from typing import Any

import typer.main
from typer import Abort
from typer.exceptions import TyperException

from toolcrib.cli.app import app
from toolcrib.cli.exits import INTERRUPTED, PIPE_CLOSED, USAGE
from toolcrib.cli.failures import tell


def run(arguments: Sequence[str]) -> int:
    """Returns the exit code; whatever happened was told already."""
    try:
        code = _run(list(arguments))
        sys.stdout.flush()
    except BrokenPipeError:
        # Python flushes stdout again when it ends: let it flush into nothing.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return PIPE_CLOSED
    except (KeyboardInterrupt, Abort):
        return INTERRUPTED
    return code


def _run(arguments: list[str]) -> int:
    command = typer.main.get_command(app)
    try:
        code: Any = command.main(arguments, prog_name="toolcrib", standalone_mode=False)
    except TyperException as error:
        return _tell_usage(error)
    except (BrokenPipeError, KeyboardInterrupt, Abort):
        raise
    except Exception as error:  # noqa: BLE001 - the last line: told, not shown as a stack trace
        return tell(error, debug="--debug" in arguments)
    return code if isinstance(code, int) else 0


def _tell_usage(error: TyperException) -> int:
    show = getattr(error, "show", None)
    if show is not None:
        show()
    return USAGE
