"""This module puts into words how a command ended, and what a path in the workspace is."""

from __future__ import annotations

import posixpath
from collections.abc import Mapping
from typing import Final

from toolcrib.errors import InvalidArguments
from toolcrib.isolation.limits import MIB, Limits
from toolcrib.isolation.running import Ending, Ran
from toolcrib.isolation.view import WORKSPACE

_LONGEST: Final = 4096


def stopped(ran: Ran, limits: Limits, seconds: float) -> str | None:
    """Why a command was stopped, for a model to act on; None for one that ended by itself."""
    if ran.starved:
        return f"It ran out of memory: the sandbox has {limits.memory // MIB} MiB."
    if ran.full and ran.ended == "exited" and ran.code != 0:
        return (
            f"Nothing can be written: the workspace holds more than {limits.disk // MIB} MiB. "
            "Delete files first."
        )
    reasons: Mapping[Ending, str] = {
        "exited": "",
        "time": f"It was stopped after {seconds:g} s. Ask for more time, or do less at once.",
        "output": f"It was stopped: it wrote more than {limits.output // MIB} MiB of output. "
        "Write to a file, or filter what it prints.",
        "disk": f"It was stopped: the workspace holds more than {limits.disk // MIB} MiB, "
        "or the disk is full. Delete files.",
        "files": f"It was stopped: the workspace has more than {limits.files} files, "
        "or folders too deep inside each other. Delete some.",
        "closed": "It was stopped: the chat's sandbox was closed.",
    }
    return reasons[ran.ended] or None


def inside(path: str) -> str:
    """The path relative to the workspace, `.` for the workspace itself. Raises InvalidArguments.

    Names of links are not looked at: what a link leads to is decided inside the walls.
    """
    text = path.strip()
    if text == WORKSPACE or text.startswith(f"{WORKSPACE}/"):
        text = text[len(WORKSPACE) :].lstrip("/") or "."
    plain = posixpath.normpath(text or ".")
    if plain.startswith(("/", "../")) or plain == ".." or "\0" in plain:
        raise InvalidArguments(
            f"{path!r} is not in the workspace.", hint=f"Paths are relative to {WORKSPACE}."
        )
    if len(plain.encode(errors="surrogatepass")) > _LONGEST:
        raise InvalidArguments(f"The path is longer than {_LONGEST} bytes.")
    return plain
