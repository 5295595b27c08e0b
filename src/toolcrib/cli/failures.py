"""This module tells people on stderr what went wrong: the culprit, the cause, the hint."""

from __future__ import annotations

import sys
import traceback

from toolcrib.cli.exits import INTERNAL, exit_of
from toolcrib.cli.spoken import in_commands
from toolcrib.errors import ToolcribError


def tell(error: BaseException, *, debug: bool) -> int:
    """Write about the error and return the exit code. Only `debug` shows a stack trace."""
    if debug:
        traceback.print_exception(error)
    if not isinstance(error, ToolcribError):
        _write(f"{type(error).__name__}: {error}", mark="✗ This is a mistake in Toolcrib. ")
        if not debug:
            _write("The same command with --debug shows where it happened.", mark="  ")
        return INTERNAL
    place = f" (at {error.where})" if error.where else ""
    _write(f"{error.message}{place}", mark="✗ ")
    if error.hint:
        _write(in_commands(error.hint), mark="  ")
    return exit_of(type(error))


def _write(text: str, *, mark: str) -> None:
    sys.stderr.write(f"{mark}{text}\n")
