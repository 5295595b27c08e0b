"""This module runs one command from its arguments to its exit code, and is quiet about a person
who pressed Ctrl-C and a reader who has seen enough."""

from __future__ import annotations

import errno
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
from toolcrib.errors import NoSpace, ToolcribError

_FULL = frozenset({errno.ENOSPC, errno.EDQUOT, errno.EFBIG})


def run(arguments: Sequence[str]) -> int:
    """Returns the exit code; whatever happened was told already."""
    _have_streams()
    try:
        code = _run(list(arguments))
        sys.stdout.flush()
    except BrokenPipeError:
        _write_no_more()
        return PIPE_CLOSED
    except SystemExit as leaving:
        if isinstance(leaving.__context__, BrokenPipeError):  # rich's way to be quiet about it
            return PIPE_CLOSED
        raise
    except OSError as error:
        _write_no_more()
        return tell(_unwritten(error), debug="--debug" in arguments)
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
    except OSError as error:
        full = error.errno in _FULL
        return tell(_unwritten(error) if full else error, debug="--debug" in arguments)
    except Exception as error:  # noqa: BLE001 - the last line: told, not shown as a stack trace
        return tell(error, debug="--debug" in arguments)
    return code if isinstance(code, int) else 0


def _have_streams() -> None:
    """A program may be started with a stream closed: then there is nobody to ask or to tell."""
    for name, mode in (("stdin", "r"), ("stdout", "w"), ("stderr", "w")):
        if getattr(sys, name) is None:
            setattr(sys, name, open(os.devnull, mode))  # noqa: SIM115, PTH123 - to the end


def _write_no_more() -> None:
    """Python flushes stdout again when it ends: let it flush into nothing."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def _unwritten(error: OSError) -> ToolcribError:
    return NoSpace(
        f"What is to be written cannot be: {error.strerror or error}.",
        hint="Make room where the output and TOOLCRIB_DATA_DIR are, then run the command again.",
    )


def _tell_usage(error: TyperException) -> int:
    show = getattr(error, "show", None)
    if show is not None:
        show()
    return USAGE
