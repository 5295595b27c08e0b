"""This module tries plugins, each in a process of its own: one that takes the process down with it
cannot hide which one it was."""

from __future__ import annotations

import asyncio
import json
import os
import signal
import sys
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from toolcrib.errors import NotFound

if TYPE_CHECKING:
    from toolcrib.plugin.finding import Found
    from toolcrib.settings import Settings

Result = dict[str, Any]
_EXTRA = 30.0
"""Seconds that the process around a plugin may take besides the plugin's own time."""


async def try_plugins(settings: Settings, names: Sequence[str]) -> list[Result]:
    """One result a plugin, by name. Raises NotFound for a name that nothing announces."""
    from toolcrib.plugin.discovery import GROUPS  # noqa: PLC0415
    from toolcrib.plugin.finding import find_plugins  # noqa: PLC0415

    found = find_plugins((*GROUPS, *settings.plugin_groups))
    known = [one.name for one in found]
    for name in names:
        if name not in known:
            hint = f"Announced here: {', '.join(known) or 'none'}."
            raise NotFound(f"No installed plugin has the name {name!r}.", hint=hint)
    return [await _try(one, settings) for one in found if not names or one.name in names]


async def _try(found: Found, settings: Settings) -> Result:
    process = await asyncio.create_subprocess_exec(
        sys.executable,
        "-m",
        "toolcrib.cli.trial",
        found.distribution,
        found.value,
        stdin=asyncio.subprocess.DEVNULL,
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.PIPE,
        start_new_session=True,
    )
    try:
        limit = settings.plugin_timeout + _EXTRA
        report, printed = await asyncio.wait_for(process.communicate(), limit)
        lost = _how_it_ended(process.returncode)
    except TimeoutError:
        report, printed = b"", b""
        lost = "the process hung"
    finally:
        _end(process)
    output = printed.decode(errors="replace").splitlines()
    return _result(found, report, lost) | {"output": output}


def _result(found: Found, report: bytes, lost: str) -> Result:
    try:
        said: Result = json.loads(report)
    except ValueError:
        said = {"error": f"It took its process down: {lost}", "tools": {}, "skipped": []}
    plugin = {
        "name": found.name,
        "distribution": found.distribution,
        "version": found.version,
        "value": found.value,
        "group": found.group,
    }
    return plugin | said | {"ok": said["error"] is None and not said["skipped"]}


def _how_it_ended(code: int | None) -> str:
    if code is not None and code < 0:
        return f"killed by {signal.Signals(-code).name}"
    return f"it ended with code {code}"


def _end(process: asyncio.subprocess.Process) -> None:
    """End whatever the plugin may have started too."""
    try:
        os.killpg(process.pid, signal.SIGKILL)
    except ProcessLookupError:
        return
